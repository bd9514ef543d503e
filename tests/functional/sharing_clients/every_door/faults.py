"""What some client does not read of the recorded tables, and whose fault that is.

A cell of the table *client x recorded table* that is not here reads the very rows of
the table. A cell that is here, and would be read, fails as well: nothing is excused
for longer than it lasts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Client(StrEnum):
    """What reads the tables, and by which door."""

    PYICEBERG = "pyiceberg"
    BY_IDS = "pyiceberg, without name mapping"
    DUCKDB = "duckdb"
    POLARS = "polars"
    DAFT = "daft"
    SPARK = "Spark"
    PARQUET = "delta-sharing, parquet format"
    DELTA = "delta-sharing, delta format"
    POWER_BI = "Power BI, its requests"
    DELTALAKE = "deltalake, by the folder"


@dataclass(frozen=True)
class Fault:
    """Why a client does not read a table.

    Attributes:
        whose: Whose fault it is: the client's, or that the door has no word for it.
        why: The fault.
        shown: A pattern that the error has; None where rows are read wrongly.
        is_foreseen: Whether the registry of clients says so; else it depends on values,
            or on how a writer wrote the files.
    """

    whose: str
    why: str
    shown: str | None = None
    is_foreseen: bool = True


CLIENT: Final = "the client's"
DOOR: Final = "the door's: it refuses by name what it has no word for"

VARIANT = Fault(DOOR, "a column of type variant", "type variant")
VOID = Fault(DOOR, "a column of type void", "type void")
VOID_UNKNOWN = Fault(CLIENT, "it knows no column of type void", "void")
MARKED = Fault(
    DOOR, "files are not their rows: vectors delete some", "Deletion vectors"
)
MAPPED = Fault(DOOR, "files have other names for columns", "columns are mapped")
REFUSED = Fault(DOOR, "files are not their rows", "in the parquet format")
NTZ = Fault(DOOR, "the format has no times without zone", "timestamp_ntz")
WIDENED = Fault(DOOR, "the format does not widen nested columns", "type of columns?")
STRING_VIEWS = Fault(
    CLIENT, "it joins no string views to strings", "string_view", is_foreseen=False
)
NULL_LISTS = Fault(
    CLIENT, "a NULL list of structs becomes an empty one", is_foreseen=False
)
FAR_TIMES = Fault(
    CLIENT, "times of INT96 beyond the year 2262 wrap around", is_foreseen=False
)
MAPS_WIDENED = Fault(
    CLIENT, "it widens no keys of maps", "data type mismatch", is_foreseen=False
)
PUFFIN = Fault(CLIENT, "it takes a Puffin file for Parquet", "CorruptFile")
NO_FILES = Fault(
    CLIENT, "a table without files has no schema", "Must pass schema", is_foreseen=False
)

WIDE_DECIMALS = Fault(DOOR, "Iceberg widens no scale of decimals", "was widened from")
NEW_FIELDS = Fault(
    CLIENT, "a struct of an older file lacks the fields added later", is_foreseen=False
)
WRITERS_TEXT = Fault(
    "the writer's: delta-spark stores the text that stands for NULL in paths as NULL",
    "it takes partition values from the files, where the text is",
    is_foreseen=False,
)

UNREAD = Fault(
    CLIENT, "it does not read a feature of the table", "Unsupported table features"
)
PARTS = Fault(
    CLIENT, "a variant becomes a struct of its binary parts", is_foreseen=False
)
EMPTY_TEXT = Fault(
    CLIENT, "the empty text of a partition is no NULL to it", is_foreseen=False
)
ODD_STATISTICS = Fault(
    CLIENT,
    "statistics that are no JSON stop it",
    "Malformed JSON",
    is_foreseen=False,
)

VARIANTS = (
    "delta-spark__variants",
    "deltars__spark-shredded-variant-preview-delta",
    "kernel__spark-shredded-variant-preview-delta",
    "spark__variant-stats-nested-no-checkpoint",
    "spark__variant-stats-with-struct-no-checkpoint",
)
NESTED = (
    "delta-spark__mapped-nested",
    "delta-spark__nested",
    "deltalake__nested",
    "derived__types-extreme",
    "golden__table-with-columnmapping-mode-id",
    "golden__table-with-columnmapping-mode-name",
    "golden__table-with-icebegCompatV2Enabled",
)
VOIDS = ("delta-spark__void", "kernelrs__void-column")
WITH_FAR_TIMES = ("delta-spark__types", "deltars__table_with_edge_timestamps")
WITH_WIDENED = ("delta-spark__widened", "golden__type-widening-nested")
WITH_VECTORS = (
    "delta-spark__vectors",
    "delta-spark__vectors-mapped",
    "deltars__table_with_deletion_logs",
    "golden__dv-partitioned-with-checkpoint",
    "golden__dv-with-columnmapping",
    "kernel__basic-dv-with-checkpoint",
    "kernelrs__cdf-table-with-cdc-and-dvs",
    "kernelrs__compacted-log-files-table",
    "spark__table-with-dv-small",
)
WITH_MAPPED = (
    "delta-spark__feed-mapped-vectors",
    "delta-spark__iceberg-compatible",
    "delta-spark__mapped-by-id",
    "delta-spark__mapped-by-name",
    "delta-spark__mapped-exchanged",
    "delta-spark__mapped-nested",
    "golden__data-reader-timestamp_ntz-name-mode",
    "golden__table-with-columnmapping-mode-id",
    "golden__table-with-columnmapping-mode-name",
    "golden__table-with-icebegCompatV2Enabled",
    "kernel__data-reader-partition-values-column-mapping-name",
    "kernelrs__cdf-column-mapping-id-mode",
    "kernelrs__stats-writing-all-types",
)
WITH_LOCAL_TIMES = (
    "delta-spark__local-times",
    "delta-spark__partition-types",
    "deltalake__types",
    "kernelrs__parquet_row_group_skipping",
)
_CASES: Final[tuple[tuple[Client, Fault, tuple[str, ...]], ...]] = (
    (Client.PYICEBERG, VARIANT, VARIANTS),
    (Client.PYICEBERG, VOID, VOIDS),
    (Client.PYICEBERG, NULL_LISTS, NESTED),
    (Client.PYICEBERG, FAR_TIMES, WITH_FAR_TIMES),
    (Client.POLARS, FAR_TIMES, WITH_FAR_TIMES),
    (Client.POLARS, MAPS_WIDENED, ("golden__type-widening-nested",)),
    (Client.DAFT, FAR_TIMES, WITH_FAR_TIMES),
    (Client.DAFT, PUFFIN, WITH_VECTORS),
    (Client.DAFT, VARIANT, VARIANTS),
    (Client.DAFT, VOID, VOIDS),
    (Client.DAFT, WRITERS_TEXT, ("delta-spark__partitions-odd",)),
    (Client.DAFT, WIDE_DECIMALS, ("delta-spark__widened",)),
    (Client.BY_IDS, NULL_LISTS, NESTED),
    (Client.BY_IDS, FAR_TIMES, WITH_FAR_TIMES),
    (Client.BY_IDS, VARIANT, VARIANTS),
    (Client.POLARS, VARIANT, VARIANTS),
    (Client.DUCKDB, VARIANT, VARIANTS),
    (Client.BY_IDS, VOID, VOIDS),
    (Client.POLARS, VOID, VOIDS),
    (Client.DUCKDB, VOID, VOIDS),
    (Client.SPARK, VARIANT, VARIANTS),
    (Client.SPARK, VOID, VOIDS),
    (Client.PARQUET, VARIANT, VARIANTS),
    (Client.PARQUET, VOID_UNKNOWN, VOIDS),
    (Client.PARQUET, MARKED, WITH_VECTORS),
    (Client.PARQUET, MAPPED, WITH_MAPPED),
    (Client.PARQUET, NTZ, WITH_LOCAL_TIMES),
    (Client.PARQUET, STRING_VIEWS, ("deltalake__nested",)),
    (Client.PARQUET, NEW_FIELDS, ("delta-spark__schema-evolved",)),
    (Client.PARQUET, WRITERS_TEXT, ("delta-spark__partitions-odd",)),
    (Client.PYICEBERG, WRITERS_TEXT, ("delta-spark__partitions-odd",)),
    (Client.BY_IDS, WRITERS_TEXT, ("delta-spark__partitions-odd",)),
    (Client.POLARS, WRITERS_TEXT, ("delta-spark__partitions-odd",)),
    (Client.DUCKDB, WRITERS_TEXT, ("delta-spark__partitions-odd",)),
    (Client.PYICEBERG, WIDE_DECIMALS, ("delta-spark__widened",)),
    (Client.BY_IDS, WIDE_DECIMALS, ("delta-spark__widened",)),
    (Client.POLARS, WIDE_DECIMALS, ("delta-spark__widened",)),
    (Client.DUCKDB, WIDE_DECIMALS, ("delta-spark__widened",)),
    (Client.SPARK, WIDE_DECIMALS, ("delta-spark__widened",)),
    (Client.PARQUET, WIDENED, WITH_WIDENED),
    (Client.PARQUET, FAR_TIMES, WITH_FAR_TIMES),
    (
        Client.POWER_BI,
        REFUSED,
        (*WITH_VECTORS, *WITH_MAPPED, *WITH_LOCAL_TIMES, *WITH_WIDENED, *VARIANTS),
    ),
    (Client.POWER_BI, NEW_FIELDS, ("delta-spark__schema-evolved",)),
    (
        Client.DELTALAKE,
        UNREAD,
        (
            *("golden__basic-with-vacuum-protocol-check-feature", *WITH_WIDENED),
            *VARIANTS[1:],
        ),
    ),
    (Client.DELTALAKE, PARTS, VARIANTS[:1]),
    (Client.DELTALAKE, FAR_TIMES, WITH_FAR_TIMES),
    (Client.DELTALAKE, EMPTY_TEXT, ("derived__partition-empty-string-null",)),
    (Client.DELTALAKE, ODD_STATISTICS, ("derived__stats-odd",)),
    (Client.DELTA, VARIANT, VARIANTS),
    (Client.DELTA, VOID_UNKNOWN, VOIDS),
    (Client.DELTA, WIDENED, WITH_WIDENED),
    (Client.DELTA, FAR_TIMES, WITH_FAR_TIMES),
    (Client.DELTA, NO_FILES, ("spark__dbr_8_0_non_generated_columns",)),
)
FAULTS: Final[Mapping[tuple[Client, str], Fault]] = {
    (client, name): fault for client, fault, names in _CASES for name in names
}
UNREADABLE: Final[Mapping[str, str]] = {
    "deltars-err__table_c": "log-gap",
    "deltars-err__table_g": "data-file-missing",
    "deltars-err__table_h": "unsupported-feature",
    "deltars-err__table_i": "unsupported-feature",
    "deltars__checkpoint_with_partitions": "data-file-missing",
    "deltars__simple_table_features": "unsupported-protocol",
    "deltars__table-with-domain-metadata": "data-file-missing",
    "derived__gap-after-checkpoint": "log-gap",
    "derived__reader-version-4": "unsupported-protocol",
    "derived__unknown-reader-feature": "unsupported-feature",
    "golden__canonicalized-paths-normal-a": "metadata-missing-schema",
    "golden__canonicalized-paths-special-a": "metadata-missing-schema",
    "golden__canonicalized-paths-special-b": "metadata-missing-schema",
    "golden__data-reader-absolute-paths-escaped-chars": "no-metadata",
    "golden__deltalog-state-reconstruction-from-checkpoint-missing-metadata": (
        "no-metadata"
    ),
    "golden__deltalog-state-reconstruction-from-checkpoint-missing-protocol": (
        "no-protocol"
    ),
    "golden__no-delta-log-folder": "not-a-delta-table",
    "golden__parquet-decimal-dictionaries-v1": "data-file-missing",
    "golden__update-deleted-directory": "metadata-missing-schema",
    "golden__versions-not-contiguous": "log-gap",
    "kernel__catalog-owned-preview": "unsupported-feature",
    "kernelrs__crc-malformed": "not-a-delta-table",
    "kernelrs__type-widening": "unsupported-feature",
}
"""Tables that nobody reads at their newest version, by the code of our own error."""
VERSIONS: Final[Mapping[str, tuple[int, ...]]] = {
    "delta-spark__mapped-by-name": (1, 5),
    "delta-spark__vectors": (1, 3),
    "deltalake__evolved": (0, 2),
    "deltars__cdc_ict_table": (0, 1),
    "deltars__delta-1.2.1-only-struct-stats": (1, 6),
    "golden__dv-partitioned-with-checkpoint": (0, 5),
    "golden__time-travel-start-start20-start40": (0, 1),
    "kernelrs__cdf-column-mapping-id-mode": (1, 2),
    "kernelrs__cdf-table-partitioned": (0, 1),
    "kernelrs__cdf-table-with-cdc-and-dvs": (5, 14),
    "spark__history_delta-0.2.0": (1, 2),
}
"""Tables of which older versions are read as well."""
