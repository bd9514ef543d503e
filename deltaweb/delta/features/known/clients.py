"""Clients that read tables by themselves, and what is known of their releases.

A fact has a source or was tried; what neither tells is not known, which is a value of
its own and no guess. A client that is known to read a feature need not be known by the
release that began it.

Source: docs.delta.io, "How does Delta Lake manage feature compatibility?"; Databricks,
"Delta Lake feature compatibility and protocols"; Trino, release notes and
`DeltaLakeTableFeatures`; DuckDB, "Native Delta Lake Support in DuckDB"; its delta
extension, deltalake and Polars were tried on recorded tables, as a test does again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from deltaweb.delta.features.column_mapping import COLUMN_MAPPING
from deltaweb.delta.features.deletion_vectors import DELETION_VECTORS
from deltaweb.delta.features.foreign_types import TIMESTAMP_NTZ, VARIANT
from deltaweb.delta.features.type_widening import TYPE_WIDENING
from deltaweb.delta.features.v2_checkpoints import V2_CHECKPOINT
from deltaweb.delta.protocol.schema import OPAQUE

KNOWN_ON: Final = "24 November 2026"


class Answer(Enum):
    """Whether a client reads something."""

    READS = "reads"
    CANNOT = "cannot"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Support:
    """Whether a client reads a feature.

    Attributes:
        release: The first release that does; "" where that is not known.
    """

    answer: Answer
    release: str = ""

    @property
    def text(self) -> str:
        """It in a word: a release, yes, no, or not known."""
        if self.answer is Answer.READS:
            return self.release or "yes"
        return "no" if self.answer is Answer.CANNOT else self.answer.value


READS: Final = Support(Answer.READS)
CANNOT: Final = Support(Answer.CANNOT)
UNKNOWN: Final = Support(Answer.UNKNOWN)


@dataclass(frozen=True, slots=True)
class ReadingClient:
    """A client that opens a table's log by itself.

    Attributes:
        tried: The release that was tried; "" where the facts are documents'.
        supports: What it does with each feature; one that is absent is not known.
        unread_types: The types of columns for which it opens no table.
        checks_type_changes: Whether it refuses changes of types that the protocol does
            not name.
    """

    name: str
    about: str
    product: str
    tried: str
    supports: Mapping[str, Support]
    unread_types: frozenset[str] = frozenset()
    checks_type_changes: bool = False

    def support(self, feature: str) -> Support:
        return self.supports.get(feature, UNKNOWN)


def _from(**releases: str) -> dict[str, Support]:
    """Return features by their names, each from a release on."""
    return {name: Support(Answer.READS, first) for name, first in releases.items()}


SPARK: Final = "Spark + Delta"
DUCKDB: Final = "DuckDB"
DELTALAKE: Final = "deltalake"
POLARS: Final = "Polars"
VACUUM_CHECK: Final = "vacuumProtocolCheck"
SHREDDING: Final = "variantShredding"
CLIENTS: Final = (
    ReadingClient(
        SPARK,
        "delta-spark",
        "Delta",
        "",
        {
            **_from(
                columnMapping="1.2",
                deletionVectors="2.3",
                timestampNtz="2.4",
                typeWidening="4.0",
                v2Checkpoint="3.0",
                variantType="4.0",
            ),
            f"{TYPE_WIDENING}-preview": Support(Answer.READS, "3.2"),
            VACUUM_CHECK: READS,
            SHREDDING: READS,
            f"{SHREDDING}-preview": READS,
        },
        checks_type_changes=True,
    ),
    ReadingClient(
        "Databricks",
        "Runtime",
        "Runtime",
        "",
        _from(
            columnMapping="10.4 LTS",
            deletionVectors="12.2 LTS",
            timestampNtz="13.3 LTS",
            typeWidening="15.4 LTS",
            v2Checkpoint="13.3 LTS",
            variantType="15.3",
        ),
    ),
    ReadingClient(
        DUCKDB,
        "its delta extension",
        "DuckDB",
        "1.5",
        {
            **_from(deletionVectors="1.0"),
            **dict.fromkeys(
                (
                    COLUMN_MAPPING,
                    TIMESTAMP_NTZ,
                    TYPE_WIDENING,
                    f"{TYPE_WIDENING}-preview",
                    V2_CHECKPOINT,
                    VACUUM_CHECK,
                    VARIANT,
                    SHREDDING,
                    f"{SHREDDING}-preview",
                ),
                READS,
            ),
        },
        unread_types=frozenset({"void", OPAQUE}),
    ),
    ReadingClient(
        "Trino",
        "Delta Lake connector",
        "Trino",
        "",
        {
            **_from(timestampNtz="423"),
            **dict.fromkeys(
                (
                    COLUMN_MAPPING,
                    DELETION_VECTORS,
                    TYPE_WIDENING,
                    f"{TYPE_WIDENING}-preview",
                    V2_CHECKPOINT,
                    VACUUM_CHECK,
                    VARIANT,
                    f"{VARIANT}-preview",
                ),
                READS,
            ),
        },
    ),
    ReadingClient(
        DELTALAKE,
        "delta-rs, Python",
        "deltalake",
        "1.6",
        {
            **dict.fromkeys(
                (
                    COLUMN_MAPPING,
                    DELETION_VECTORS,
                    TIMESTAMP_NTZ,
                    V2_CHECKPOINT,
                    VARIANT,
                ),
                READS,
            ),
            **dict.fromkeys(
                (
                    TYPE_WIDENING,
                    f"{TYPE_WIDENING}-preview",
                    VACUUM_CHECK,
                    SHREDDING,
                    f"{SHREDDING}-preview",
                ),
                CANNOT,
            ),
        },
    ),
    ReadingClient(
        POLARS,
        "scan_delta",
        "Polars",
        "2.1",
        {
            **dict.fromkeys((DELETION_VECTORS, TIMESTAMP_NTZ), READS),
            **dict.fromkeys(
                (
                    COLUMN_MAPPING,
                    TYPE_WIDENING,
                    f"{TYPE_WIDENING}-preview",
                    V2_CHECKPOINT,
                    VACUUM_CHECK,
                    VARIANT,
                    f"{SHREDDING}-preview",
                ),
                CANNOT,
            ),
        },
    ),
)
