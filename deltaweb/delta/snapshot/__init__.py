"""The snapshot: a table at one version, with its files, metadata and rows."""

from deltaweb.delta.snapshot.snapshot import PARQUET, Snapshot

__all__ = ["PARQUET", "Snapshot"]
