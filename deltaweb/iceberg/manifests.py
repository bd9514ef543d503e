"""Manifests, which list files, and the list of the manifests of a version.

Source: Iceberg specification, "Manifests" and "Manifest Lists".
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.iceberg.avro import (
    NULL_BRANCH,
    VALUE_BRANCH,
    Encoded,
    container,
    encoded_bytes,
    encoded_long,
    encoded_longs,
    encoded_map,
    encoded_texts,
    joined,
    optional,
)
from deltaweb.iceberg.files import DataFiles
from deltaweb.iceberg.schema import PartitionField, primitive_text, spec_json
from deltaweb.iceberg.values import bound_bytes, decimal_bytes, partition_bytes

FILES_A_MANIFEST: Final = 10_000
EXISTING: Final = 0  # status of an entry
DATA, DELETES = 0, 1  # content of a manifest
DATA_FILE, POSITION_DELETES = 0, 1  # content of a file
WITH_VECTORS: Final = 3  # the version of the format that has deletion vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotFacts:
    """A version of the table as its manifests know it.

    Attributes:
        snapshot_id: Its id in Iceberg.
        sequence_number: Its place among the table's versions.
        schema: The Iceberg schema, with its number.
        fields: What it is partitioned by.
        spec_id: The number of that partition spec.
        format_version: Of Iceberg's format.
    """

    snapshot_id: int
    sequence_number: int
    schema: dict[str, Any]
    fields: Sequence[PartitionField]
    spec_id: int
    format_version: int


@dataclass(frozen=True, slots=True, eq=False)
class VectorFiles:
    """Deletion vectors of some data files, row for row.

    Attributes:
        locations: Where clients fetch each vector.
        sizes: Of the vectors' files in bytes.
        num_deleted: Count of rows that each deletes.
        data_locations: The data file of each.
        content_offsets: Where in its file the vector begins.
        content_sizes: How long it is there, in bytes.
        partition: The typed values of each partition field of the data file.
    """

    locations: pa.StringArray
    sizes: pa.Array
    num_deleted: pa.Array
    data_locations: pa.StringArray
    content_offsets: pa.Array
    content_sizes: pa.Array
    partition: Sequence[pa.Array]

    def __len__(self) -> int:
        return len(self.locations)


# === Manifests ===


def data_manifest(files: DataFiles, snapshot: SnapshotFacts) -> bytes:
    """Write the manifest of some data files."""
    num_rows = len(files)
    records = files.num_records.to_numpy().astype(np.int64)
    value_counts = [
        (
            one.field_id,
            pc.if_else(
                one.null_counts.is_valid(),
                encoded_longs(records),
                pa.scalar(None, pa.binary()),
            ),
        )
        for one in files.columns
    ]
    null_counts = [(one.field_id, _longs(one.null_counts)) for one in files.columns]
    lower = [(one.field_id, encoded_texts(one.lower)) for one in files.columns]
    upper = [(one.field_id, encoded_texts(one.upper)) for one in files.columns]
    rows = joined(
        [
            _entry_head(snapshot),
            encoded_long(DATA_FILE),
            encoded_texts(files.locations),
            encoded_bytes(b"PARQUET"),
            *map(optional, map(partition_bytes, files.partition)),
            encoded_longs(records),
            _longs(files.sizes),
            encoded_map(value_counts, num_rows),
            encoded_map(null_counts, num_rows),
            encoded_map(lower, num_rows),
            encoded_map(upper, num_rows),
            *([NULL_BRANCH] * _num_vector_fields(snapshot)),
        ],
        num_rows,
    )
    return _manifest(rows, snapshot, "data")


def vector_manifest(vectors: VectorFiles, snapshot: SnapshotFacts) -> bytes:
    """Write the manifest of some deletion vectors."""
    num_rows = len(vectors)
    rows = joined(
        [
            _entry_head(snapshot),
            encoded_long(POSITION_DELETES),
            encoded_texts(vectors.locations),
            encoded_bytes(b"PUFFIN"),
            *map(optional, map(partition_bytes, vectors.partition)),
            _longs(vectors.num_deleted),
            _longs(vectors.sizes),
            *([NULL_BRANCH] * 5),
            optional(encoded_texts(vectors.data_locations)),
            optional(_longs(vectors.content_offsets)),
            optional(_longs(vectors.content_sizes)),
        ],
        num_rows,
    )
    return _manifest(rows, snapshot, "deletes")


def _entry_head(snapshot: SnapshotFacts) -> bytes:
    number = VALUE_BRANCH + encoded_long(snapshot.sequence_number)
    return (
        encoded_long(EXISTING)
        + VALUE_BRANCH
        + encoded_long(snapshot.snapshot_id)
        + number
        + number
    )


def _num_vector_fields(snapshot: SnapshotFacts) -> int:
    return len(_VECTOR_FIELDS) if snapshot.format_version >= WITH_VECTORS else 0


def _longs(values: pa.Array) -> Encoded:
    """Encode whole numbers; null stays null."""
    encoded = encoded_longs(values.fill_null(0).to_numpy().astype(np.int64))
    if not values.null_count:
        return encoded
    return pc.if_else(values.is_valid(), encoded, pa.scalar(None, pa.binary()))


def _manifest(rows: Encoded, snapshot: SnapshotFacts, content: str) -> bytes:
    return container(
        rows,
        _entry_schema(snapshot),
        {
            "schema": json.dumps(snapshot.schema),
            "schema-id": str(snapshot.schema["schema-id"]),
            "partition-spec": json.dumps(spec_json(snapshot.fields)),
            "partition-spec-id": str(snapshot.spec_id),
            "format-version": str(snapshot.format_version),
            "content": content,
        },
    )


# === The list ===


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedManifest:
    """A manifest as the list tells of it.

    Attributes:
        location: Where clients fetch it.
        length: Of the manifest in bytes.
        content: `DATA` or `DELETES`.
        num_files: Count of its files.
        num_rows: Count of rows, in the files or deleted by them.
        partition: The typed values of each partition field of its files.
    """

    location: str
    length: int
    content: int
    num_files: int
    num_rows: int
    partition: Sequence[pa.Array]


def manifest_list(
    manifests: Sequence[ListedManifest], snapshot: SnapshotFacts
) -> bytes:
    """Write the list of a version's manifests."""
    has_row_ids = snapshot.format_version >= WITH_VECTORS
    first_row_id, rows = 0, []
    for one in manifests:
        row = _list_row(one, snapshot)
        if has_row_ids and one.content == DATA:
            row += VALUE_BRANCH + encoded_long(first_row_id)
            first_row_id += one.num_rows
        elif has_row_ids:
            row += NULL_BRANCH
        rows.append(row)
    return container(
        pa.array(rows, pa.binary()),
        _list_schema(snapshot.format_version),
        {
            "snapshot-id": str(snapshot.snapshot_id),
            "parent-snapshot-id": "null",
            "sequence-number": str(snapshot.sequence_number),
            "format-version": str(snapshot.format_version),
        },
    )


def _list_row(one: ListedManifest, snapshot: SnapshotFacts) -> bytes:
    numbers = (
        one.length,
        snapshot.spec_id,
        one.content,
        snapshot.sequence_number,
        snapshot.sequence_number,
        snapshot.snapshot_id,
        *(0, one.num_files, 0),
        *(0, one.num_rows, 0),
    )
    return (
        encoded_bytes(one.location.encode())
        + b"".join(map(encoded_long, numbers))
        + _summaries(one.partition)
        + NULL_BRANCH  # key_metadata
    )


def _summaries(partition: Sequence[pa.Array]) -> bytes:
    if not partition:
        return NULL_BRANCH
    summaries = b"".join(map(_summary, partition))
    return VALUE_BRANCH + encoded_long(len(partition)) + summaries + b"\x00"


def _summary(values: pa.Array) -> bytes:
    """Say whether some value is null, and which are the smallest and the largest."""
    has_null = b"\x01" if values.null_count else b"\x00"
    if pa.types.is_floating(values.type) or pa.types.is_binary(values.type):
        return has_null + NULL_BRANCH * 3
    known = pc.min_max(values)
    bounds = pa.concat_arrays([_one(known["min"]), _one(known["max"])])
    return (
        has_null
        + NULL_BRANCH
        + b"".join(
            NULL_BRANCH if bound is None else VALUE_BRANCH + encoded_bytes(bound)
            for bound in bound_bytes(bounds).to_pylist()
        )
    )


def _one(value: pa.Scalar) -> pa.Array:
    return pa.array([value.as_py()], value.type)


# === Schemas in Avro ===


def _field(name: str, field_id: int, kind: Any) -> dict[str, Any]:  # noqa: ANN401 (a text or an object)
    return {"name": name, "type": kind, "field-id": field_id}


def _optional_field(name: str, field_id: int, kind: Any) -> dict[str, Any]:  # noqa: ANN401 (as above)
    return {**_field(name, field_id, ["null", kind]), "default": None}


def _map_field(
    name: str, field_id: int, key_id: int, value_id: int, kind: str
) -> dict[str, Any]:
    pair = {
        "type": "record",
        "name": f"k{key_id}_v{value_id}",
        "fields": [_field("key", key_id, "int"), _field("value", value_id, kind)],
    }
    array = {"type": "array", "items": pair, "logicalType": "map"}
    return _optional_field(name, field_id, array)


_VECTOR_FIELDS: Final = (
    _optional_field("first_row_id", 142, "long"),
    _optional_field("referenced_data_file", 143, "string"),
    _optional_field("content_offset", 144, "long"),
    _optional_field("content_size_in_bytes", 145, "long"),
)


def _entry_schema(snapshot: SnapshotFacts) -> dict[str, Any]:
    partition = {
        "type": "record",
        "name": "r102",
        "fields": [
            _optional_field(one.name, one.field_id, _partition_type(one))
            for one in snapshot.fields
        ],
    }
    fields = [
        _field("content", 134, "int"),
        _field("file_path", 100, "string"),
        _field("file_format", 101, "string"),
        _field("partition", 102, partition),
        _field("record_count", 103, "long"),
        _field("file_size_in_bytes", 104, "long"),
        _map_field("value_counts", 109, 119, 120, "long"),
        _map_field("null_value_counts", 110, 121, 122, "long"),
        _map_field("lower_bounds", 125, 126, 127, "bytes"),
        _map_field("upper_bounds", 128, 129, 130, "bytes"),
        *_VECTOR_FIELDS[: _num_vector_fields(snapshot)],
    ]
    return {
        "type": "record",
        "name": "manifest_entry",
        "fields": [
            _field("status", 0, "int"),
            _optional_field("snapshot_id", 1, "long"),
            _optional_field("sequence_number", 3, "long"),
            _optional_field("file_sequence_number", 4, "long"),
            _field("data_file", 2, {"type": "record", "name": "r2", "fields": fields}),
        ],
    }


_AVRO_TYPES: Final[dict[str, Any]] = {
    "int": "int",
    "long": "long",
    "float": "float",
    "double": "double",
    "boolean": "boolean",
    "string": "string",
    "binary": "bytes",
    "date": {"type": "int", "logicalType": "date"},
    "timestamptz": {
        "type": "long",
        "logicalType": "timestamp-micros",
        "adjust-to-utc": True,
    },
    "timestamp": {
        "type": "long",
        "logicalType": "timestamp-micros",
        "adjust-to-utc": False,
    },
}


def _partition_type(field: PartitionField) -> Any:  # noqa: ANN401 (as above)
    kind = field.column.data_type
    text = primitive_text(kind, column=field.name)
    if text in _AVRO_TYPES:
        return _AVRO_TYPES[text]
    precision, scale = kind.precision, kind.scale  # type: ignore[union-attr]  # a decimal, by its text
    return {
        "type": "fixed",
        "name": f"decimal_{precision}_{scale}_of_{field.field_id}",
        "size": decimal_bytes(precision),
        "logicalType": "decimal",
        "precision": precision,
        "scale": scale,
    }


def _list_schema(format_version: int) -> dict[str, Any]:
    summary = {
        "type": "record",
        "name": "r508",
        "fields": [
            _field("contains_null", 509, "boolean"),
            _optional_field("contains_nan", 518, "boolean"),
            _optional_field("lower_bound", 510, "bytes"),
            _optional_field("upper_bound", 511, "bytes"),
        ],
    }
    summaries = {"type": "array", "items": summary, "element-id": 508}
    fields = [
        _field("manifest_path", 500, "string"),
        _field("manifest_length", 501, "long"),
        _field("partition_spec_id", 502, "int"),
        _field("content", 517, "int"),
        _field("sequence_number", 515, "long"),
        _field("min_sequence_number", 516, "long"),
        _field("added_snapshot_id", 503, "long"),
        _field("added_files_count", 504, "int"),
        _field("existing_files_count", 505, "int"),
        _field("deleted_files_count", 506, "int"),
        _field("added_rows_count", 512, "long"),
        _field("existing_rows_count", 513, "long"),
        _field("deleted_rows_count", 514, "long"),
        _optional_field("partitions", 507, summaries),
        _optional_field("key_metadata", 519, "bytes"),
    ]
    if format_version >= WITH_VECTORS:
        fields.append(_optional_field("first_row_id", 520, "long"))
    return {"type": "record", "name": "manifest_file", "fields": fields}
