"""The schema of a table: from the log's JSON to types and back without loss.

Source: PROTOCOL.md, "Schema Serialization Format".
"""

from deltaweb.delta.protocol.schema.arrow import (
    SHOWN_ONLY,
    arrow_schema,
    arrow_type,
    check_read,
    nullable_schema,
    read_columns,
    unread_type,
)
from deltaweb.delta.protocol.schema.from_arrow import schema_of_arrow
from deltaweb.delta.protocol.schema.log_json import (
    MAX_DECIMAL_PRECISION,
    MAX_NESTING_DEPTH,
    format_schema,
    parse_schema,
    parse_type,
    schema_json,
)
from deltaweb.delta.protocol.schema.shown import (
    LeafField,
    leaf_fields,
    quoted_name,
    short_type_text,
    type_text,
)
from deltaweb.delta.protocol.schema.types import (
    OPAQUE,
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    all_fields,
    fields_in,
    is_mapped_type,
    logical_schema,
    parts_of,
    stored_schema,
    types_in,
    with_fields,
    with_parts,
)
from deltaweb.delta.protocol.schema.width import (
    MAX_SHOWN_FIELDS,
    SchemaWidth,
    is_too_wide,
    schema_width,
)

__all__ = [
    "MAX_DECIMAL_PRECISION",
    "MAX_NESTING_DEPTH",
    "MAX_SHOWN_FIELDS",
    "OPAQUE",
    "SHOWN_ONLY",
    "ArrayType",
    "DataType",
    "DecimalType",
    "LeafField",
    "MapType",
    "PrimitiveType",
    "SchemaWidth",
    "StructField",
    "StructType",
    "all_fields",
    "arrow_schema",
    "arrow_type",
    "check_read",
    "fields_in",
    "format_schema",
    "is_mapped_type",
    "is_too_wide",
    "leaf_fields",
    "logical_schema",
    "nullable_schema",
    "parse_schema",
    "parse_type",
    "parts_of",
    "quoted_name",
    "read_columns",
    "schema_json",
    "schema_of_arrow",
    "schema_width",
    "short_type_text",
    "stored_schema",
    "type_text",
    "types_in",
    "unread_type",
    "with_fields",
    "with_parts",
]
