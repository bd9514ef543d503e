"""The Avro schemas of manifests and of their lists.

Source: Iceberg specification, "Manifests" and "Manifest Lists".
"""

from collections.abc import Sequence
from typing import Any, Final

from deltaweb.iceberg.schema import PartitionField, primitive_text
from deltaweb.iceberg.values import decimal_bytes

WITH_VECTORS: Final = 3
"""The version of the format that has deletion vectors, and ids of rows."""


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


VECTOR_FIELDS: Final = (
    _optional_field("first_row_id", 142, "long"),
    _optional_field("referenced_data_file", 143, "string"),
    _optional_field("content_offset", 144, "long"),
    _optional_field("content_size_in_bytes", 145, "long"),
)


def entry_schema(
    fields: Sequence[PartitionField], format_version: int
) -> dict[str, Any]:
    partition = {
        "type": "record",
        "name": "r102",
        "fields": [
            _optional_field(one.name, one.field_id, _partition_type(one))
            for one in fields
        ],
    }
    of_file = [
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
        *(VECTOR_FIELDS if format_version >= WITH_VECTORS else ()),
    ]
    return {
        "type": "record",
        "name": "manifest_entry",
        "fields": [
            _field("status", 0, "int"),
            _optional_field("snapshot_id", 1, "long"),
            _optional_field("sequence_number", 3, "long"),
            _optional_field("file_sequence_number", 4, "long"),
            _field("data_file", 2, {"type": "record", "name": "r2", "fields": of_file}),
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


def list_schema(format_version: int) -> dict[str, Any]:
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
