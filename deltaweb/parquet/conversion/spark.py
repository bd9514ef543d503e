"""A Parquet schema as Spark reads it: Delta's types, and the few that are Spark's own.

Where Spark wrote the file, its own schema is in the footer and wins: it has comments,
lengths of texts and intervals, which Parquet's does not.

Source: Spark's ParquetToSparkSchemaConverter, in version 4.2.
"""

from collections.abc import Mapping
from typing import Final

from deltaweb.environment.bounded_json import parse_json
from deltaweb.parquet.annotations import Annotation
from deltaweb.parquet.conversion.delta import (
    ColumnProblem,
    DeltaType,
    SchemaConverter,
    as_nullable,
)
from deltaweb.parquet.loading import ParquetFooter
from deltaweb.parquet.schema import Node

ROW_METADATA: Final = "org.apache.spark.sql.parquet.row.metadata"
DEFAULT_CRS: Final = "OGC:CRS84"


class _SparkConverter(SchemaConverter):
    def compared_name(self, node: Node) -> str:
        return node.name

    def annotated_type(self, node: Node, annotation: Annotation) -> DeltaType:
        crs = annotation.crs or DEFAULT_CRS
        match annotation.kind:
            case "UNKNOWN":
                return self.physical_type(node)
            case "GEOMETRY":
                return f"geometry({crs})"
            case "GEOGRAPHY":
                return f"geography({crs}, {annotation.algorithm or 'SPHERICAL'})"
        return super().annotated_type(node, annotation)


def convert(
    root: Node, *, is_strict: bool = False
) -> tuple[DeltaType | None, tuple[ColumnProblem, ...]]:
    """Return the schema that Spark makes of a file's, or why it makes none.

    Spark takes everything for nullable; `is_strict` keeps what the file says.
    """
    converter = _SparkConverter()
    fields = converter.fields(root.children or ())
    if not fields:
        converter.problems.append(ColumnProblem((), "no columns"))
    if converter.problems:
        return None, tuple(converter.problems)
    schema = {"type": "struct", "fields": fields}
    return schema if is_strict else as_nullable(schema), ()


def stored_schema(footer: ParquetFooter) -> DeltaType | None:
    """Return the schema that Spark left in a footer; None without one that reads."""
    for key, value in footer.metadata.key_values:
        if key == ROW_METADATA and value is not None:
            try:
                schema = parse_json(value)
            except (ValueError, RecursionError):
                return None
            is_struct = isinstance(schema, Mapping) and schema.get("type") == "struct"
            return schema if is_struct else None
    return None
