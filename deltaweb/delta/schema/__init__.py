"""The schema of a table: JSON text to types, and back without loss.

Read the modules in this order:

    types       what a column can be
    log_json    the log's JSON: `parse_schema` and `format_schema`
    shown       what people read, and the leaf columns
    width       how many columns there are, before any is built
    arrow       what rows are made of

Source: PROTOCOL.md, "Schema Serialization Format".
"""

from deltaweb.delta.schema.arrow import (
    SHOWN_ONLY,
    arrow_schema,
    arrow_type,
    check_read,
    read_columns,
    unread_type,
)
from deltaweb.delta.schema.log_json import (
    MAX_DECIMAL_PRECISION,
    MAX_NESTING_DEPTH,
    format_schema,
    parse_schema,
    schema_json,
)
from deltaweb.delta.schema.shown import (
    LeafField,
    leaf_fields,
    short_type_text,
    type_text,
)
from deltaweb.delta.schema.types import (
    OPAQUE,
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
)
from deltaweb.delta.schema.width import (
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
    "arrow_schema",
    "arrow_type",
    "check_read",
    "format_schema",
    "is_too_wide",
    "leaf_fields",
    "parse_schema",
    "read_columns",
    "schema_json",
    "schema_width",
    "short_type_text",
    "type_text",
    "unread_type",
]
