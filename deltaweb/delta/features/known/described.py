"""Table features in plain words: every name of the protocol, and of its RFCs.

A name that is absent is shown as it is. Being described is no support: what is done
with a feature, the registry says.

Source: delta_protocol_2026.md, "Valid Feature Names in Table Features"; the RFCs of
delta-io/delta.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

PREVIEW: Final = "-preview"


class Description(NamedTuple):
    """What people call a feature, and what it is, as a sentence."""

    title: str
    meaning: str

    @property
    def in_sentence(self) -> str:
        """The title within a sentence; one that begins with capitals keeps them."""
        return (
            self.title[:1].lower() + self.title[1:]
            if self.title[1:2].islower()
            else self.title
        )


_NOT_KNOWN: Final = "No text that this release knows says what it is."
_DESCRIPTIONS: Final[Mapping[str, Description]] = {
    name: Description(title, meaning)
    for name, title, meaning in (
        # === What readers must know ===
        (
            "columnMapping",
            "Column mapping",
            "Files keep their own names of columns, so a rename touches no file.",
        ),
        (
            "deletionVectors",
            "Deletion vectors",
            "Deleted rows are masked beside a file, which is not rewritten.",
        ),
        (
            "timestampNtz",
            "Times without a zone",
            "Columns of the type timestamp_ntz, which are the same on every clock.",
        ),
        (
            "typeWidening",
            "Type widening",
            "A column gets a wider type, and its older files keep the narrower one.",
        ),
        (
            "v2Checkpoint",
            "V2 checkpoints",
            "Checkpoints of the log have their files in sidecars beside them.",
        ),
        (
            "vacuumProtocolCheck",
            "Vacuum checks the protocol",
            "Vacuum first checks whether it supports the table.",
        ),
        (
            "variantType",
            "Variant",
            "Columns of values that each have a type of their own, as JSON has.",
        ),
        (
            "variantShredding",
            "Shredded variant",
            "Parts of variants that often come are stored as columns of files.",
        ),
        (
            "catalogManaged",
            "Catalog-managed",
            "A catalog decides on versions; the log may be behind.",
        ),
        (
            "catalogOwned",
            "Catalog-owned",
            "The earlier name of catalog-managed: the log may be behind.",
        ),
        (
            "geospatial",
            "Geometry and geography",
            "Columns of points, lines and areas.",
        ),
        (
            "intervalType",
            "Intervals",
            "Columns of spans of time.",
        ),
        (
            "timestampNanos",
            "Nanosecond times",
            "Columns of times that are finer than a microsecond.",
        ),
        (
            "adaptiveMetadata",
            "Adaptive metadata",
            "The log is kept in another shape than that of the protocol's text.",
        ),
        (
            "icebergNativeV4",
            "Native Iceberg",
            "Files are listed in manifests of Iceberg, not in the log.",
        ),
        (
            "redirectReaderWriter",
            "Redirected",
            "The table has moved; readers and writers follow it.",
        ),
        # === What only writers must know ===
        (
            "appendOnly",
            "Append only",
            "Rows are added, and none is deleted or changed.",
        ),
        ("invariants", "Invariants", "Values of a column have to meet a condition."),
        ("checkConstraints", "CHECK constraints", "Rows have to meet conditions."),
        (
            "changeDataFeed",
            "Change data feed",
            "Writers record which rows each version changed.",
        ),
        (
            "generatedColumns",
            "Generated columns",
            "Values of a column are computed from others.",
        ),
        ("identityColumns", "Identity columns", "A column numbers new rows by itself."),
        (
            "allowColumnDefaults",
            "Default values",
            "A column that a writer leaves out gets a default.",
        ),
        (
            "rowTracking",
            "Row tracking",
            "Rows keep an id and the version that last changed them.",
        ),
        (
            "domainMetadata",
            "Domain metadata",
            "Programs keep settings of their own in the log.",
        ),
        (
            "clustering",
            "Liquid clustering",
            "Rows that are alike in chosen columns are kept together.",
        ),
        (
            "inCommitTimestamp",
            "In-commit timestamps",
            "Commits carry their own times, not those of their files.",
        ),
        (
            "icebergCompatV1",
            "Iceberg compatibility 1",
            "Files are kept so that Iceberg could list them too.",
        ),
        (
            "icebergCompatV2",
            "Iceberg compatibility 2",
            "Files are kept so that Iceberg could list them too.",
        ),
        (
            "icebergCompatV3",
            "Iceberg compatibility 3",
            "Files are kept so that Iceberg could list them too.",
        ),
        (
            "materializePartitionColumns",
            "Partition columns in files",
            "Files hold the partition columns as well.",
        ),
        (
            "checkpointProtection",
            "Protected checkpoints",
            "Old versions are cleaned up only by those who know their features.",
        ),
        (
            "collations",
            "Collations",
            "Text of a column is compared by rules of a language.",
        ),
        (
            "columnMappingUsageTracking",
            "Tracked column mapping",
            "The log says whether a mapped column was ever renamed or dropped.",
        ),
        (
            "coordinatedCommits",
            "Coordinated commits",
            "A service decides which commit comes next.",
        ),
        (
            "redirectWriterOnly",
            "Redirected for writers",
            "The table has moved; writers follow it.",
        ),
    )
}
NAMES: Final = tuple(_DESCRIPTIONS)


def describe_feature(name: str) -> Description:
    """Return a feature in plain words; a preview of one says that it is one."""
    found = _DESCRIPTIONS.get(name)
    if found is not None:
        return found
    base = _DESCRIPTIONS.get(name.removesuffix(PREVIEW))
    if base is None or not name.endswith(PREVIEW):
        return Description(name, _NOT_KNOWN)
    return Description(f"{base.title} (preview)", base.meaning)
