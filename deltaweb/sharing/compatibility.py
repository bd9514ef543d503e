"""Which tables a recipient could misread, and which clients read a table.

Answers are in the protocol's parquet format: a client opens each data file as plain
Parquet and takes what is in it, by logical names, for rows. Where that is not the
table, a query is refused. Only what a version uses counts: a feature that its protocol
merely supports changes nothing for a reader.

Source: delta_protocol.md, "Table Features"; delta_sharing_protocol.md, "Schema Object".
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from deltaweb.delta.actions import Metadata, Protocol
from deltaweb.delta.schema import (
    OPAQUE,
    ArrayType,
    DataType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
)
from deltaweb.delta.table_features import (
    COLUMN_MAPPING,
    DELETION_VECTORS,
    FEATURES_READER_VERSION,
    READING,
    V2_CHECKPOINT,
    has_mapped_columns,
    mapping_mode,
)

PARQUET: Final = "parquet"
CATALOG_MANAGED: Final = "catalogManaged"
TYPE_WIDENING: Final = "typeWidening"
TYPE_CHANGES: Final = "delta.typeChanges"
PHYSICAL_NAME: Final = "delta.columnMapping.physicalName"
DELETION_VECTORS_PROPERTY: Final = "delta.enableDeletionVectors"
# Types of columns that the sharing protocol has no name for, and their features.
FOREIGN_TYPES: Final[Mapping[str, str]] = {
    "timestamp_ntz": "timestampNtz",
    "variant": "variantType",
}
SHOWN_COLUMNS: Final = 3


@dataclass(frozen=True, slots=True)
class Misreading:
    """A reason for which a table's files are not its rows.

    Attributes:
        feature: The table feature by the specification's name.
        reason: A whole sentence about the table.
    """

    feature: str
    reason: str


@dataclass(frozen=True, slots=True)
class ClientReading:
    """Whether one client reads a table as it is shared.

    Attributes:
        client: The client, as people call it.
        can_read: Whether it returns the table's rows.
        reason: Why it does not; empty when it does.
        minimum_version: The first release of it that reads the table, as text.
    """

    client: str
    can_read: bool
    reason: str
    minimum_version: str


def misreadings(
    protocol: Protocol,
    metadata: Metadata,
    schema: StructType,
    *,
    has_deletion_vectors: bool | None,
) -> list[Misreading]:
    """Return why a client of the parquet format would misread a version.

    Args:
        protocol: The protocol in force.
        metadata: The metadata in force.
        schema: Its schema.
        has_deletion_vectors: Whether a live file has one. None where nobody looked:
            the table's property then says whether writers make them.

    Returns:
        The reasons, one a feature; empty when every row is served as it is.
    """
    facts = _Facts(protocol, metadata, schema, has_deletion_vectors)
    found = [check(facts) for check in _CHECKS]
    return [
        *(misreading for misreading in found if misreading is not None),
        *_foreign_types(schema),
        *_unknown_features(protocol),
    ]


# === Checks ===


@dataclass(frozen=True, slots=True)
class _Facts:
    protocol: Protocol
    metadata: Metadata
    schema: StructType
    has_deletion_vectors: bool | None


def _reader_version(facts: _Facts) -> Misreading | None:
    version = facts.protocol.min_reader_version
    if version > FEATURES_READER_VERSION:
        reason = (
            f"It asks for reader version {version}, which this server does not know."
        )
        return Misreading(f"reader version {version}", reason)
    if version == FEATURES_READER_VERSION and facts.protocol.reader_features is None:
        reason = "It has reader version 3 and does not say which features it uses."
        return Misreading(f"reader version {version}", reason)
    return None


def _file_format(facts: _Facts) -> Misreading | None:
    provider = facts.metadata.format.provider
    if provider.lower() == PARQUET:
        return None
    reason = f"Its data files are of the format {provider[:40]!r}, not Parquet."
    return Misreading("format", reason)


def _deletion_vectors(facts: _Facts) -> Misreading | None:
    used = facts.has_deletion_vectors
    if used is None:
        # Without a look at the files: tables that merely can have them pass.
        features = facts.protocol.reader_features or ()
        switch = facts.metadata.configuration.get(DELETION_VECTORS_PROPERTY, "")
        used = DELETION_VECTORS in features and switch.lower() == "true"
    if not used:
        return None
    reason = (
        "Deletion vectors mark rows of its files as deleted, "
        "and a client that reads the files alone would return those rows."
    )
    return Misreading(DELETION_VECTORS, reason)


def _column_mapping(facts: _Facts) -> Misreading | None:
    if not has_mapped_columns(facts.protocol, facts.metadata):
        return None
    mode = mapping_mode(facts.metadata.configuration)
    if mode == "name" and not _has_other_names(facts.schema):
        return None  # every column still goes by its own name in the files
    reason = (
        f"Its columns are mapped by {mode[:40]}: they go by other names in its files, "
        "where a client would look for them in vain."
    )
    return Misreading(COLUMN_MAPPING, reason)


def _type_widening(facts: _Facts) -> Misreading | None:
    changed = [
        name for name, field in _columns(facts.schema) if TYPE_CHANGES in field.metadata
    ]
    if not changed:
        return None
    reason = (
        f"The type of {_listed(changed)} was widened: older files hold "
        "a narrower type than the schema says."
    )
    return Misreading(TYPE_WIDENING, reason)


def _catalog_managed(facts: _Facts) -> Misreading | None:
    if CATALOG_MANAGED not in (facts.protocol.reader_features or ()):
        return None
    reason = "A catalog decides on its versions, and its log alone may be behind."
    return Misreading(CATALOG_MANAGED, reason)


def _v2_checkpoint(facts: _Facts) -> Misreading | None:
    """A table that may have such checkpoints may have one under a classic name."""
    if V2_CHECKPOINT not in (facts.protocol.reader_features or ()):
        return None
    reason = (
        "Its log may hold checkpoints of the second version, which this server does "
        "not read, so that the list of its files would not be certain."
    )
    return Misreading(V2_CHECKPOINT, reason)


_CHECKS: Final[tuple[Callable[[_Facts], Misreading | None], ...]] = (
    _reader_version,
    _file_format,
    _deletion_vectors,
    _column_mapping,
    _type_widening,
    _catalog_managed,
    _v2_checkpoint,
)


def _foreign_types(schema: StructType) -> Iterator[Misreading]:
    by_type: dict[str, list[str]] = {}
    for name, field in _columns(schema):
        for leaf in _primitives(field.data_type):
            if leaf in FOREIGN_TYPES:
                by_type.setdefault(leaf, []).append(name)
    for type_name, names in by_type.items():
        reason = (
            f"The type {type_name} of {_listed(list(dict.fromkeys(names)))} "
            "is none that clients of the parquet format know."
        )
        yield Misreading(FOREIGN_TYPES[type_name], reason)


def _unknown_features(protocol: Protocol) -> Iterator[Misreading]:
    """Nobody can tell whether a feature is used that nobody here knows."""
    for feature in protocol.reader_features or ():
        if feature not in READING:
            reason = f"It needs {feature[:80]!r}, which this server does not know."
            yield Misreading(feature, reason)


# === Columns ===


def _columns(schema: StructType, prefix: str = "") -> Iterator[tuple[str, StructField]]:
    """Yield every field of a schema, nested ones by their dotted names.

    A field that holds structs inside arrays or maps has their fields below it.
    """
    for field in schema.fields:
        name = f"{prefix}{field.name}"
        yield name, field
        for struct in _structs(field.data_type):
            yield from _columns(struct, f"{name}.")


def _structs(data_type: DataType) -> Iterator[StructType]:
    match data_type:
        case StructType():
            yield data_type
        case ArrayType():
            yield from _structs(data_type.element_type)
        case MapType():
            yield from _structs(data_type.key_type)
            yield from _structs(data_type.value_type)
        case _:
            return


def _primitives(data_type: DataType) -> Iterator[str]:
    """Yield the primitive types that a field itself holds, in arrays and maps too."""
    match data_type:
        case PrimitiveType():
            yield data_type.name
        case ArrayType():
            yield from _primitives(data_type.element_type)
        case MapType():
            yield from _primitives(data_type.key_type)
            yield from _primitives(data_type.value_type)
        case _:
            return


def _has_other_names(schema: StructType) -> bool:
    """Tell whether a column goes by another name in the files than in the schema."""
    return any(
        field.metadata.get(PHYSICAL_NAME, field.name) != field.name
        for _, field in _columns(schema)
    )


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name[:80]) for name in names[:SHOWN_COLUMNS])
    more = len(names) - SHOWN_COLUMNS
    kind = "column" if len(names) == 1 else "columns"
    return f"{kind} {shown}" + (f" and {more} more" if more > 0 else "")


# === Clients ===

# The first release of each client that reads what this server sends: the parquet
# format of protocol version 1 is what all of them began with.
_CLIENTS: Final[tuple[tuple[str, str], ...]] = (
    ("pandas", "delta-sharing 0.1"),
    ("Spark", "delta-sharing-spark 0.1"),
    ("Polars", "delta-sharing 0.1"),
    ("DuckDB", "delta-sharing 0.1"),
    ("Power BI", "the Delta Sharing connector of any release"),
)
# They read through the python client, which knows fewer types than Spark.
_BY_PYTHON: Final = frozenset({"pandas", "Polars", "DuckDB"})


def client_readings(
    protocol: Protocol,
    metadata: Metadata,
    schema: StructType,
    *,
    has_deletion_vectors: bool | None,
) -> list[ClientReading]:
    """Return, for each client that people use, whether it reads a version.

    Args: As `misreadings`.
    """
    misread = misreadings(
        protocol, metadata, schema, has_deletion_vectors=has_deletion_vectors
    )
    refusal = " ".join(misreading.reason for misreading in misread)
    return [
        _reading(client, release, refusal or _client_refusal(client, schema, metadata))
        for client, release in _CLIENTS
    ]


def _reading(client: str, release: str, reason: str) -> ClientReading:
    return ClientReading(client, not reason, reason, "" if reason else release)


def _client_refusal(client: str, schema: StructType, metadata: Metadata) -> str:
    """Return why one client cannot read what others can; "" when it can."""
    if client not in _BY_PYTHON:
        return ""
    void = [
        field.name
        for field in schema.fields
        if field.data_type == PrimitiveType("void")
        or getattr(field.data_type, "spelling", "") == "null"
    ]
    if void:
        return f"The python client does not know the type void of {_listed(void)}."
    unknown = [
        name
        for name, field in _columns(schema)
        if OPAQUE in _primitives(field.data_type)
    ]
    if unknown:
        return f"The python client does not know the type of {_listed(unknown)}."
    partitioned = [
        name
        for name in metadata.partition_columns
        if (field := schema.find(name)) and field.data_type == PrimitiveType("binary")
    ]
    if partitioned:
        return (
            "The python client does not read the partition values of "
            f"{_listed(partitioned)}, which is binary."
        )
    return ""
