"""Properties of tables in plain words: what they do, their values, their defaults.

A table may have others: they are kept, and mean nothing here.

Source: delta_protocol.md, "Change Metadata" and the sections of the features; the
documentation of Delta Lake, "Delta table properties reference".
"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final, NamedTuple

from deltaweb.delta.protocol.table_properties import PREFIX

YES_NO: Final = "true or false"
INTERVAL: Final = "an interval, such as interval 7 days"
NUMBER: Final = "a number"
MAX_COMPARED: Final = 80
"""Characters of a name that is unknown by which it is compared."""


class KnownProperty(NamedTuple):
    """A property, by its name: its values, what holds without it, what it does."""

    name: str
    values: str
    default: str
    meaning: str


KNOWN_PROPERTIES: Final[Mapping[str, KnownProperty]] = {
    name: KnownProperty(name, values, default, meaning)
    for name, values, default, meaning in (
        (
            "delta.appendOnly",
            YES_NO,
            "false",
            "Rows can only be added, not changed or deleted.",
        ),
        (
            "delta.autoOptimize.autoCompact",
            YES_NO,
            "false",
            "Spark compacts small files after each write; deltaweb does not.",
        ),
        (
            "delta.autoOptimize.optimizeWrite",
            YES_NO,
            "false",
            (
                "Spark redistributes rows before it writes, so that files become "
                "larger; deltaweb does not."
            ),
        ),
        (
            "delta.checkpoint.writeStatsAsJson",
            YES_NO,
            "true",
            "Checkpoints contain file statistics as JSON, which all readers support.",
        ),
        (
            "delta.checkpoint.writeStatsAsStruct",
            YES_NO,
            "false",
            "Checkpoints contain typed file statistics, which are faster to read.",
        ),
        (
            "delta.checkpointInterval",
            NUMBER,
            "10",
            "The number of commits between two checkpoints.",
        ),
        (
            "delta.checkpointPolicy",
            "classic or v2",
            "classic",
            "The kind of checkpoints; v2 needs the table feature v2Checkpoint.",
        ),
        (
            "delta.columnMapping.mode",
            "none, name or id",
            "none",
            (
                "Files use their own names or ids for columns, so that columns can be "
                "renamed and dropped."
            ),
        ),
        (
            "delta.dataSkippingNumIndexedCols",
            "a number; -1 for all",
            "32",
            (
                "The number of columns, from the first, with minimum and maximum, "
                "which "
                "readers use to skip files."
            ),
        ),
        (
            "delta.dataSkippingStatsColumns",
            "comma-separated names",
            "the first columns",
            (
                "The columns with minimum and maximum, instead of the first ones. A "
                "struct means all its columns; backticks quote a name."
            ),
        ),
        (
            "delta.dataSkippingStringPrefixLength",
            "a number from 0",
            "32",
            "The number of characters in the minimum and maximum of a text.",
        ),
        (
            "delta.deletedFileRetentionDuration",
            INTERVAL,
            "interval 1 week",
            (
                "How long a vacuum keeps removed files, so that earlier versions stay "
                "readable."
            ),
        ),
        (
            "delta.enableChangeDataFeed",
            YES_NO,
            "false",
            "Writers record the rows that each version inserted, updated and deleted.",
        ),
        (
            "delta.enableDeletionVectors",
            YES_NO,
            "false",
            "Rows can be marked as deleted without rewriting their files.",
        ),
        (
            "delta.enableExpiredLogCleanup",
            YES_NO,
            "true",
            (
                "Spark deletes expired history when it writes a checkpoint; deltaweb "
                "deletes it only in a log clean-up."
            ),
        ),
        (
            "delta.enableInCommitTimestamps",
            YES_NO,
            "false",
            "The time of a commit is in the commit, not the time of its file.",
        ),
        (
            "delta.enableRowTracking",
            YES_NO,
            "false",
            "Each row has an id and the version that last changed it.",
        ),
        (
            "delta.enableTypeWidening",
            YES_NO,
            "false",
            "Columns can get a wider type without rewriting files.",
        ),
        (
            "delta.isolationLevel",
            "Serializable or WriteSerializable",
            "WriteSerializable",
            "Whether a delete or update also conflicts with earlier appends.",
        ),
        (
            "delta.logRetentionDuration",
            INTERVAL,
            "interval 30 days",
            "How long the history is kept, and with it the earlier versions.",
        ),
        (
            "delta.parquet.compression.codec",
            "uncompressed, snappy, gzip, brotli, lz4 or zstd",
            "snappy",
            "How the columns of new data files are compressed.",
        ),
        (
            "delta.randomizeFilePrefixes",
            YES_NO,
            "false",
            (
                "Spark uses random prefixes for data files, which spreads them over "
                "the "
                "partitions of a store; deltaweb does not."
            ),
        ),
        (
            "delta.setTransactionRetentionDuration",
            INTERVAL,
            "forever",
            (
                "How long Spark remembers the progress of a stream; deltaweb keeps it "
                "forever."
            ),
        ),
        (
            "delta.targetFileSize",
            "a size, such as 128mb",
            "128mb",
            "The approximate size of data files.",
        ),
    )
}
"""By name, in order of names."""
OTHER_PROPERTIES: Final = frozenset(
    {
        "delta.autoOptimize",
        "delta.castIcebergTimeType",
        "delta.checkpointRetentionDuration",
        "delta.columnMapping.maxColumnId",
        "delta.compatibility.symlinkFormatManifest.enabled",
        "delta.dropFeatureTruncateHistory.retentionDuration",
        "delta.enableFullRetentionRollback",
        "delta.enableIcebergCompatV1",
        "delta.enableIcebergCompatV2",
        "delta.enableIcebergCompatV3",
        "delta.enableMaterializePartitionColumnsFeature",
        "delta.enableVariantShredding",
        "delta.ignoreProtocolDefaults",
        "delta.inCommitTimestampEnablementTimestamp",
        "delta.inCommitTimestampEnablementVersion",
        "delta.minReaderVersion",
        "delta.minWriterVersion",
        "delta.parquet.format.version",
        "delta.randomPrefixLength",
        "delta.requireCheckpointProtectionBeforeVersion",
        "delta.rowTracking.materializedRowCommitVersionColumnName",
        "delta.rowTracking.materializedRowIdColumnName",
        "delta.rowTrackingSuspended",
        "delta.sampleRetentionDuration",
        "delta.tuneFileSizesForRewrites",
        "delta.universalFormat.enabledFormats",
    }
)
"""Properties of engines that mean nothing to people here, and are kept."""
OPEN_PREFIXES: Final = (
    "delta.constraints.",
    "delta.coordinatedCommits.",
    "delta.feature.",
    "delta.universalFormat.",
)
"""How families of properties begin whose names are anybody's."""


def nearest_known(name: str) -> str | None:
    """Return what an unknown name of Delta's may mean; None where it is known, or ours.

    Args:
        name: Of a property; upper and lower case are two, as engines tell them apart.
    """
    known = {*KNOWN_PROPERTIES, *OTHER_PROPERTIES}
    is_open = name.startswith(OPEN_PREFIXES) or not name.lower().startswith(PREFIX)
    if is_open or name in known:
        return None
    by_lower = {one.lower(): one for one in sorted(known)}
    asked = name.lower()[:MAX_COMPARED]
    return by_lower[get_close_matches(asked, by_lower, n=1, cutoff=0.0)[0]]
