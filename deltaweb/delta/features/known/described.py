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
            "Files use their own column names, so renaming a column rewrites no file.",
        ),
        (
            "deletionVectors",
            "Deletion vectors",
            "A bitmap marks the deleted rows of a file, which is not rewritten.",
        ),
        (
            "timestampNtz",
            "Times without a zone",
            "Columns of the type timestamp_ntz: a date and time in no time zone.",
        ),
        (
            "typeWidening",
            "Type widening",
            "A column gets a wider type; older files keep the narrower type.",
        ),
        (
            "v2Checkpoint",
            "V2 checkpoints",
            "Checkpoints list the files of the table in separate sidecar files.",
        ),
        (
            "vacuumProtocolCheck",
            "Vacuum checks the protocol",
            "Vacuum first checks whether it supports the table.",
        ),
        (
            "variantType",
            "Variant",
            "Columns of JSON-like values, each with its own type.",
        ),
        (
            "variantShredding",
            "Shredded variant",
            "Frequent parts of variants are stored as columns of their own.",
        ),
        (
            "catalogManaged",
            "Catalog-managed",
            "A catalog manages the commits; the log may be behind.",
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
            "Columns of time intervals.",
        ),
        (
            "timestampNanos",
            "Nanosecond times",
            "Columns of times in nanoseconds.",
        ),
        (
            "adaptiveMetadata",
            "Adaptive metadata",
            "The log has another structure than the protocol describes.",
        ),
        (
            "icebergNativeV4",
            "Native Iceberg",
            "Files are listed in Iceberg manifests, not in the log.",
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
            "Rows can only be added, not changed or deleted.",
        ),
        ("invariants", "Invariants", "Values of a column must meet a condition."),
        ("checkConstraints", "CHECK constraints", "Rows must meet conditions."),
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
        ("identityColumns", "Identity columns", "A column numbers new rows."),
        (
            "allowColumnDefaults",
            "Default values",
            "A column that a writer leaves out gets a default value.",
        ),
        (
            "rowTracking",
            "Row tracking",
            "Each row has an id and the version that last changed it.",
        ),
        (
            "domainMetadata",
            "Domain metadata",
            "Programs store their own settings in the log.",
        ),
        (
            "clustering",
            "Liquid clustering",
            "Rows with similar values in chosen columns are stored together.",
        ),
        (
            "inCommitTimestamp",
            "In-commit timestamps",
            "The time of a commit is in the commit, not the time of its file.",
        ),
        (
            "icebergCompatV1",
            "Iceberg compatibility 1",
            "Files are written so that Iceberg metadata can list them, too.",
        ),
        (
            "icebergCompatV2",
            "Iceberg compatibility 2",
            "Files are written so that Iceberg metadata can list them, too.",
        ),
        (
            "icebergCompatV3",
            "Iceberg compatibility 3",
            "Files are written so that Iceberg metadata can list them, too.",
        ),
        (
            "materializePartitionColumns",
            "Partition columns in files",
            "Files also contain the partition columns.",
        ),
        (
            "checkpointProtection",
            "Protected checkpoints",
            "Only clients that support the features of old versions clean them up.",
        ),
        (
            "collations",
            "Collations",
            "The text of a column is compared by the rules of a language.",
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
