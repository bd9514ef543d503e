"""The table at one version.

Read in this order:

    state       what the log says of a version: protocol, metadata, files, tombstones
    times       when a table's versions were made
    snapshot    what a reader sees of a version: files, statistics, rows
    checksum    what a version's checksum file says of it, held against the log
"""

from deltaweb.delta.snapshot.snapshot import PARQUET, Snapshot

__all__ = ["PARQUET", "Snapshot"]
