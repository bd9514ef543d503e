"""The columns of a table as Spark has them."""

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType as SparkStruct

from deltaweb.delta.protocol.schema import StructType, arrow_schema


def spark_schema(schema: StructType) -> SparkStruct:
    """Return the columns of a table; each may be null, as in all that Spark reads."""
    return from_arrow_schema(nullable_schema(arrow_schema(schema)))


def exact_schema(schema: StructType) -> SparkStruct:
    """Return the columns of a table, with what may be null as the table says it."""
    return from_arrow_schema(arrow_schema(schema))


def sent_schema(columns: SparkStruct) -> pa.Schema:
    """Return the Arrow schema that Spark takes rows of some columns in."""
    return to_arrow_schema(columns, timezone="UTC")


def frame_schema(columns: SparkStruct) -> pa.Schema:
    """Return the columns of a DataFrame as those of a table: each may be null.

    That a DataFrame happens to hold no null is no rule for the rows to come.
    """
    return nullable_schema(sent_schema(columns))


def nullable_schema(schema: pa.Schema) -> pa.Schema:
    """Return a schema whose values may all be null, inside of others too."""
    return pa.schema([_nullable(field) for field in schema])


def _nullable(field: pa.Field) -> pa.Field:
    return pa.field(field.name, _nullable_type(field.type))


def _nullable_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([_nullable(field) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(_nullable(kind.value_field))
    if pa.types.is_map(kind):
        key = pa.field("key", _nullable_type(kind.key_type), nullable=False)
        return pa.map_(key, _nullable(kind.item_field))
    return kind
