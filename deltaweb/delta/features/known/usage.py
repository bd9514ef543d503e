"""Whether a table really uses a feature that its protocol allows.

A protocol lists a feature from when it was first wanted; whether anything of the table
has it, its properties say, its schema, or its files.

Source: delta_protocol_2026.md, "Enablement" of each feature.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from deltaweb.delta.features.change_feed import CHANGE_DATA_FEED_PROPERTY
from deltaweb.delta.features.checkpoint_protection import PROTECTED_BEFORE
from deltaweb.delta.features.column_mapping import COLUMN_MAPPING, has_mapped_columns
from deltaweb.delta.features.deletion_vectors import DELETION_VECTORS
from deltaweb.delta.features.foreign_types import TIMESTAMP_NTZ, VARIANT
from deltaweb.delta.features.in_commit_timestamps import (
    IN_COMMIT_TIMESTAMP,
    has_in_commit_timestamps,
)
from deltaweb.delta.features.known.described import PREVIEW
from deltaweb.delta.features.type_widening import TYPE_WIDENING
from deltaweb.delta.features.v2_checkpoints import V2_CHECKPOINT, wants_second_spec
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import (
    DataType,
    PrimitiveType,
    StructField,
    StructType,
    all_fields,
    types_in,
)
from deltaweb.delta.protocol.schema.field_keys import (
    COLLATIONS,
    DEFAULT,
    GENERATION,
    INVARIANTS,
    STEP,
    TYPE_CHANGES,
)
from deltaweb.delta.protocol.table_properties import CONSTRAINT_PREFIX


class Usage(Enum):
    """Whether a feature of a protocol is used."""

    USED = "in use"
    IDLE = "allowed, unused"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class VersionFacts:
    """What is known of a version of a table.

    Attributes:
        num_vectors: How many files have a deletion vector; None if unknown.
    """

    protocol: Protocol
    metadata: Metadata
    schema: StructType | None
    num_vectors: int | None = None

    def has_property(self, name: str) -> bool:
        """Return whether a property is `true`."""
        return self.metadata.configuration.get(name, "").lower() == "true"

    def fields(self) -> Iterator[StructField]:
        """Yield every field of the schema, at any depth."""
        return iter(()) if self.schema is None else all_fields(self.schema)

    def columns_of(self, names: Collection[str]) -> list[str]:
        """Return the top-level columns that have any of some types, at any depth."""
        columns = () if self.schema is None else self.schema.fields
        return [column.name for column in columns if _has(column.data_type, names)]


def _has(data_type: DataType, names: Collection[str]) -> bool:
    """Whether a type is one of some primitive ones, or holds one."""
    return any(
        isinstance(inside, PrimitiveType) and inside.name in names
        for inside in types_in(data_type)
    )


def usage(name: str, facts: VersionFacts) -> Usage:
    """Return whether a version uses a feature; one that is its own proof is used."""
    if name == DELETION_VECTORS:
        if facts.num_vectors is None:
            return Usage.UNKNOWN
        return Usage.USED if facts.num_vectors else Usage.IDLE
    test = _TESTS.get(name.removesuffix(PREVIEW))
    if test is None:
        return Usage.USED
    if facts.schema is None and test in _OF_SCHEMA:
        return Usage.UNKNOWN
    return Usage.USED if test(facts) else Usage.IDLE


_Test = Callable[[VersionFacts], bool]


def _switched(name: str) -> _Test:
    return lambda facts: facts.has_property(name)


def _marked(key: str) -> _Test:
    return lambda facts: any(key in field.metadata for field in facts.fields())


def _typed(name: str) -> _Test:
    return lambda facts: bool(facts.columns_of({name}))


_NTZ: Final = _typed("timestamp_ntz")
_VARIANT: Final = _typed("variant")
_SCHEMA_TESTS: Final[Mapping[str, _Test]] = {
    TIMESTAMP_NTZ: _NTZ,
    VARIANT: _VARIANT,
    TYPE_WIDENING: _marked(TYPE_CHANGES),
    "invariants": _marked(INVARIANTS),
    "generatedColumns": _marked(GENERATION),
    "identityColumns": _marked(STEP),
    "allowColumnDefaults": _marked(DEFAULT),
    "collations": _marked(COLLATIONS),
}
_OF_SCHEMA: Final = frozenset(_SCHEMA_TESTS.values())
_TESTS: Final[Mapping[str, _Test]] = {
    **_SCHEMA_TESTS,
    COLUMN_MAPPING: lambda facts: has_mapped_columns(facts.protocol, facts.metadata),
    IN_COMMIT_TIMESTAMP: lambda facts: has_in_commit_timestamps(
        facts.metadata.configuration
    ),
    V2_CHECKPOINT: lambda facts: wants_second_spec(facts.metadata.configuration),
    "variantShredding": _switched("delta.enableVariantShredding"),
    "appendOnly": _switched("delta.appendOnly"),
    "changeDataFeed": _switched(CHANGE_DATA_FEED_PROPERTY),
    "rowTracking": _switched("delta.enableRowTracking"),
    "icebergCompatV1": _switched("delta.enableIcebergCompatV1"),
    "icebergCompatV2": _switched("delta.enableIcebergCompatV2"),
    "icebergCompatV3": _switched("delta.enableIcebergCompatV3"),
    "checkConstraints": lambda facts: any(
        name.startswith(CONSTRAINT_PREFIX) for name in facts.metadata.configuration
    ),
    "checkpointProtection": lambda facts: (
        PROTECTED_BEFORE in facts.metadata.configuration
    ),
}
