"""The columns of a table as Spark has them."""

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType as SparkStruct

from deltaweb.delta.protocol.schema import StructType, arrow_schema, nullable_schema


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
