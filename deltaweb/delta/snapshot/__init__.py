"""The table at one version.

Read in this order:

    state             protocol, metadata, files and tombstones of a version
    times             when a table's versions were made
    snapshot          what a reader sees of a version: files, statistics, rows
    statistics_texts  what the log says of files, to be said again
    checksum          what a version's checksum file says of it, held against the log
"""

from deltaweb.delta.snapshot.snapshot import PARQUET, Snapshot

__all__ = ["PARQUET", "Snapshot"]
