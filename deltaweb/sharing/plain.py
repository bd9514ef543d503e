"""Plain files: tables as clients of the parquet format read them.

A plain file has no deletion vector, the logical names of the columns, and the types of
the schema. Its times are not stored as INT96 if many clients would misread them. A file
that is stored otherwise needs a copy. The plain form of a version needs no reader
feature that is only about how files are stored.

Source: delta_protocol.md, "Column Mapping", "Deletion Vectors" and "Type Widening".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from deltaweb.delta.features.column_mapping import (
    COLUMN_MAPPING,
    MAX_COLUMN_ID,
    has_mapped_columns,
)
from deltaweb.delta.features.deletion_vectors import DELETION_VECTORS
from deltaweb.delta.features.foreign_types import VARIANT
from deltaweb.delta.features.registry import FEATURES_READER_VERSION
from deltaweb.delta.features.type_widening import TYPE_WIDENING
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import (
    PrimitiveType,
    StructField,
    StructType,
    arrow_schema,
    arrow_type,
    leaf_fields,
    types_in,
    with_fields,
)
from deltaweb.delta.protocol.schema.field_keys import (
    FIELD_ID,
    NESTED_IDS,
    PHYSICAL_NAME,
    TYPE_CHANGES,
)
from deltaweb.delta.scan.predicate import (
    NOTHING,
    Comparison,
    Constant,
    Or,
    Predicate,
)
from deltaweb.delta.values.old_calendar.calendar import INT96
from deltaweb.environment.bounded_json import parse_json
from deltaweb.sharing.compatibility import Misreading, misreadings
from deltaweb.sharing.json_text import json_bytes
from deltaweb.sharing.narrowed import field_ids_of, with_field_metadata
from deltaweb.sharing.wire.delta import READING_PROPERTIES

IN_COPIES: Final = frozenset({COLUMN_MAPPING, DELETION_VECTORS, TYPE_WIDENING})
"""The reasons for a misreading that copies of files remove."""
TIMES: Final = frozenset({"timestamp", "timestamp_ntz"})
"""The types of columns that may be stored as INT96."""
_NEAR_US: Final = (-(2**63) // 1000 + 2000, 2**63 // 1000 - 2000)
"""The range of 64 bits in nanoseconds, without the rounding of statistics."""
_STORED_KEYS: Final = frozenset({FIELD_ID, NESTED_IDS, PHYSICAL_NAME, TYPE_CHANGES})


def needs_plain(found: Iterable[Misreading]) -> bool:
    """Return whether plain files remove a reason for a misreading."""
    return any(one.feature in IN_COPIES for one in found)


def left_in_plain(found: Iterable[Misreading]) -> list[Misreading]:
    """Return the reasons for a misreading that hold for plain files, too."""
    return [one for one in found if one.feature not in IN_COPIES]


@dataclass(frozen=True, slots=True)
class PlainForm:
    """The plain form of a version.

    Attributes:
        copies_all: Whether each file needs a copy. Otherwise only files with a
            deletion vector surely do.
        checked_where: A file with a row for which it is true needs a copy if its footer
            shows types that are not plain.
    """

    protocol: Protocol
    metadata: Metadata
    copies_all: bool
    checked_where: Predicate


def plain_form(protocol: Protocol, metadata: Metadata, schema: StructType) -> PlainForm:
    """Return the plain form of a version.

    Args:
        schema: The logical schema of the version.
    """
    found = misreadings(protocol, metadata, schema, has_deletion_vectors=False)
    features = {one.feature for one in found}
    return PlainForm(
        protocol=_plain_protocol(protocol, left_in_plain(found)),
        metadata=_plain_metadata(metadata),
        copies_all=COLUMN_MAPPING in features or has_dropped(protocol, metadata),
        checked_where=(
            Constant(value=True)
            if TYPE_WIDENING in features
            else _far_times(schema, metadata.partition_columns)
        ),
    )


def _far_times(schema: StructType, partitions: Sequence[str]) -> Predicate:
    """Return a condition that is true for a row with a time that may be far.

    Most clients read INT96 as nanoseconds since 1970 in 64 bits. Times outside their
    range become other times. There are no statistics of times in lists and maps.
    """
    found: list[Predicate] = []
    for leaf in leaf_fields(schema):
        names = {getattr(one, "name", "") for one in types_in(leaf.data_type)}
        if leaf.path[0] in partitions or TIMES.isdisjoint(names):
            continue
        if not isinstance(leaf.data_type, PrimitiveType):
            return Constant(value=True)
        kind = arrow_type(leaf.data_type)
        low, high = (pa.scalar(us, pa.int64()).cast(kind) for us in _NEAR_US)
        found += [Comparison(leaf.path, "<", low), Comparison(leaf.path, ">", high)]
    return Or(tuple(found)) if found else NOTHING


def may_need_copies(protocol: Protocol, metadata: Metadata, schema: StructType) -> bool:
    """Return whether a file of a version with this metadata may need a copy."""
    has_vectors = DELETION_VECTORS in (protocol.reader_features or ())
    return has_dropped(protocol, metadata) or needs_plain(
        misreadings(protocol, metadata, schema, has_deletion_vectors=has_vectors)
    )


def has_dropped(protocol: Protocol, metadata: Metadata) -> bool:
    """Return whether files may hold a column that was dropped.

    Each column of a table that maps columns has an id of its own, up to the largest
    one that was given.
    """
    largest = metadata.configuration.get(MAX_COLUMN_ID, "")
    if not has_mapped_columns(protocol, metadata) or not largest.isdecimal():
        return False
    ids = {*field_ids_of(parse_json(metadata.schema_string or ""))}
    return sum(0 < one <= int(largest) for one in ids) < int(largest)


def _plain_metadata(metadata: Metadata) -> Metadata:
    """Return the metaData without what it says of how columns are stored."""
    tree = parse_json(metadata.schema_string or "")
    return replace(
        metadata,
        schema_string=json_bytes(with_field_metadata(tree, _logical)).decode(),
        configuration={
            name: value
            for name, value in metadata.configuration.items()
            if name not in READING_PROPERTIES
        },
    )


def plain_schema(schema: StructType) -> StructType:
    """Return a schema whose columns are stored by their logical names."""
    return with_fields(schema, _plain_field)


def has_plain_types(file: pq.ParquetFile, schema: StructType) -> bool:
    """Return whether the columns of a file have the types of a schema.

    Args:
        file: The file; a column that it lacks is null.
        schema: A schema of plain files.
    """
    stored = file.schema_arrow
    leaves = range(len(file.schema))
    if any(file.schema.column(leaf).physical_type == INT96 for leaf in leaves):
        return False
    return all(
        _is_of_type(stored.field(wanted.name).type, wanted.type)
        for wanted in arrow_schema(schema)
        if wanted.name in stored.names
    )


def _is_of_type(stored: pa.DataType, wanted: pa.DataType) -> bool:
    if pt.is_struct(wanted) and pt.is_struct(stored):
        known = {field.name: field.type for field in stored}
        return all(
            _is_of_type(known[field.name], field.type)
            for field in wanted
            if field.name in known
        )
    if pt.is_list(wanted) and pt.is_list(stored):
        return _is_of_type(stored.value_type, wanted.value_type)
    if pt.is_map(wanted) and pt.is_map(stored):
        return _is_of_type(stored.key_type, wanted.key_type) and _is_of_type(
            stored.item_type, wanted.item_type
        )
    if pt.is_timestamp(wanted) and pt.is_timestamp(stored):
        return True  # no type is widened to an instant, nor an instant to another type
    return bool(stored == wanted)


def _plain_field(column: StructField, _: tuple[str, ...]) -> StructField:
    metadata = _logical(column.metadata)
    return replace(column, metadata=metadata, physical_name="", field_id=None)


def _logical(kept: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in kept.items() if key not in _STORED_KEYS}


def _plain_protocol(protocol: Protocol, left: Iterable[Misreading]) -> Protocol:
    """Return the protocol with those reader features alone that plain files use."""
    used = {one.feature for one in left}
    features = protocol.reader_features
    if protocol.min_reader_version > FEATURES_READER_VERSION or (
        protocol.min_reader_version == FEATURES_READER_VERSION and features is None
    ):
        return protocol  # what it asks of readers is not known
    kept = [
        name
        for name in features or ()
        if name in used or (VARIANT in used and name.startswith("variant"))
    ]
    if not kept:
        return Protocol(min_reader_version=1, min_writer_version=2)
    return replace(protocol, reader_features=kept, writer_features=kept)
