"""Which tables clients of the parquet format would misread.

In that format a client opens each data file as plain Parquet and takes what is in it,
by logical names, for rows. Where that is not the table, the query of a client that
takes no other format is refused. Only what a version uses counts: a feature that its
protocol merely supports changes nothing for a reader.

Source: delta_protocol.md, "Table Features"; delta_sharing_protocol.md, "Schema Object".
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from deltaweb.delta.features.column_mapping import (
    COLUMN_MAPPING,
    has_mapped_columns,
    mapping_mode,
)
from deltaweb.delta.features.deletion_vectors import (
    DELETION_VECTORS,
    DELETION_VECTORS_PROPERTY,
)
from deltaweb.delta.features.elsewhere import CATALOG_MANAGED
from deltaweb.delta.features.foreign_types import TIMESTAMP_NTZ, VARIANT
from deltaweb.delta.features.registry import FEATURES, FEATURES_READER_VERSION
from deltaweb.delta.features.type_widening import TYPE_WIDENING
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import (
    DataType,
    PrimitiveType,
    StructField,
    StructType,
    parts_of,
)
from deltaweb.delta.protocol.schema.field_keys import PHYSICAL_NAME, TYPE_CHANGES

PARQUET: Final = "parquet"
# Types of columns that the sharing protocol has no name for, and their features.
FOREIGN_TYPES: Final[Mapping[str, str]] = {
    "timestamp_ntz": TIMESTAMP_NTZ,
    "variant": VARIANT,
}
SHOWN_COLUMNS: Final = 3


@dataclass(frozen=True, slots=True)
class Misreading:
    """A reason for which a table's files are not its rows.

    Attributes:
        reason: A whole sentence about the table.
    """

    feature: str
    reason: str


def misreadings(
    protocol: Protocol,
    metadata: Metadata,
    schema: StructType,
    *,
    has_deletion_vectors: bool | None,
) -> list[Misreading]:
    """Return why a client of the parquet format would misread a version.

    Args:
        has_deletion_vectors: Whether a live file has one. None where that is not known:
            the table's property then says whether writers make them.

    Returns:
        The reasons, one a feature; empty when every row is served as it is.
    """
    facts = _Facts(protocol, metadata, schema, has_deletion_vectors)
    return [misreading for check in _CHECKS for misreading in check(facts)]


# === Checks ===


@dataclass(frozen=True, slots=True)
class _Facts:
    protocol: Protocol
    metadata: Metadata
    schema: StructType
    has_deletion_vectors: bool | None

    @property
    def features(self) -> Sequence[str]:
        return self.protocol.reader_features or ()


def _reader_version(facts: _Facts) -> Iterator[Misreading]:
    version, feature = facts.protocol.min_reader_version, "reader version"
    if version > FEATURES_READER_VERSION:
        yield Misreading(
            f"{feature} {version}",
            f"It requires reader version {version}, which this server does not know.",
        )
    elif version == FEATURES_READER_VERSION and facts.protocol.reader_features is None:
        yield Misreading(
            f"{feature} {version}",
            "It has reader version 3 but does not list its features.",
        )


def _file_format(facts: _Facts) -> Iterator[Misreading]:
    provider = facts.metadata.format.provider
    if provider.lower() != PARQUET:
        reason = f"Its data files are of the format {provider[:40]!r}, not Parquet."
        yield Misreading("format", reason)


def _deletion_vectors(facts: _Facts) -> Iterator[Misreading]:
    used = facts.has_deletion_vectors
    if used is None:
        # Without a look at the files: tables that merely can have them pass.
        switch = facts.metadata.configuration.get(DELETION_VECTORS_PROPERTY, "")
        used = DELETION_VECTORS in facts.features and switch.lower() == "true"
    if used:
        yield Misreading(
            DELETION_VECTORS,
            "Deletion vectors mark rows of its files as deleted, "
            "and a client that reads only the files would return those rows.",
        )


def _column_mapping(facts: _Facts) -> Iterator[Misreading]:
    mode = mapping_mode(facts.metadata.configuration)
    has_own_names = mode == "name" and not _has_other_names(facts.schema)
    if has_mapped_columns(facts.protocol, facts.metadata) and not has_own_names:
        yield Misreading(
            COLUMN_MAPPING,
            f"Its columns are mapped by {mode[:40]}: they go by other names in its "
            "files, where a client would not find them.",
        )


def _type_widening(facts: _Facts) -> Iterator[Misreading]:
    changed = [
        name
        for name, field in fields_of(facts.schema)
        if TYPE_CHANGES in field.metadata
    ]
    if changed:
        yield Misreading(
            TYPE_WIDENING,
            f"The type of {listed(changed)} was widened: older files hold "
            "a narrower type than the schema says.",
        )


def _catalog_managed(facts: _Facts) -> Iterator[Misreading]:
    if CATALOG_MANAGED in facts.features:
        reason = "A catalog decides on its versions, and its log may be behind."
        yield Misreading(CATALOG_MANAGED, reason)


def _foreign_types(facts: _Facts) -> Iterator[Misreading]:
    by_type: dict[str, list[str]] = {}
    for name, field in fields_of(facts.schema):
        for leaf in primitives(field.data_type):
            if leaf in FOREIGN_TYPES:
                by_type.setdefault(leaf, []).append(name)
    for type_name, names in by_type.items():
        reason = (
            f"The type {type_name} of {listed(list(dict.fromkeys(names)))} "
            "is not one that clients of the parquet format know."
        )
        yield Misreading(FOREIGN_TYPES[type_name], reason)


def _unknown_features(facts: _Facts) -> Iterator[Misreading]:
    """Whether a feature is used that is not known cannot be known either."""
    for feature in facts.features:
        if feature not in FEATURES:
            reason = f"It needs {feature[:80]!r}, which this server does not know."
            yield Misreading(feature, reason)


_CHECKS: Final[tuple[Callable[[_Facts], Iterator[Misreading]], ...]] = (
    _reader_version,
    _file_format,
    _deletion_vectors,
    _column_mapping,
    _type_widening,
    _catalog_managed,
    _foreign_types,
    _unknown_features,
)


# === Columns ===


def fields_of(
    data_type: DataType, prefix: str = ""
) -> Iterator[tuple[str, StructField]]:
    """Yield every field of a schema, nested ones by their dotted names.

    A field that holds structs inside arrays or maps has their fields below it.
    """
    is_struct = isinstance(data_type, StructType)
    for part in parts_of(data_type):
        name = f"{prefix}{part.name}"
        if is_struct:
            yield name, part
        yield from fields_of(part.data_type, f"{name}." if is_struct else prefix)


def primitives(data_type: DataType) -> Iterator[str]:
    """Yield the names of the primitive types of a field without its own fields."""
    if isinstance(data_type, PrimitiveType):
        yield data_type.name
    elif not isinstance(data_type, StructType):
        for part in parts_of(data_type):
            yield from primitives(part.data_type)


def _has_other_names(schema: StructType) -> bool:
    """Tell whether a column goes by another name in the files than in the schema."""
    return any(
        field.metadata.get(PHYSICAL_NAME, field.name) != field.name
        for _, field in fields_of(schema)
    )


def listed(names: list[str]) -> str:
    """Return columns as words, a few of many."""
    shown = ", ".join(repr(name[:80]) for name in names[:SHOWN_COLUMNS])
    more = len(names) - SHOWN_COLUMNS
    kind = "column" if len(names) == 1 else "columns"
    return f"{kind} {shown}" + (f" and {more} more" if more > 0 else "")
