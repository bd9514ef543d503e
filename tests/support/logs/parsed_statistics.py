"""A schema of every type, and what is read of statistics that the log writes of it."""

import json
from typing import Any

import pyarrow as pa

from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.delta.values.statistics.columns import parse_statistics
from deltaweb.delta.values.statistics.shape import statistics_shape

LONG = PrimitiveType("long")
SCHEMA = StructType(
    (
        *parse_columns_ddl(
            "i BIGINT, n TINYINT, f DOUBLE, g FLOAT, s STRING, b BOOLEAN, d DATE, "
            "t TIMESTAMP, z TIMESTAMP_NTZ, m DECIMAL(38, 18), bin BINARY, "
            "list ARRAY<BIGINT>, st STRUCT<x: BIGINT, y: STRUCT<z: BIGINT>>, "
            "`a.b` BIGINT"
        ),
        StructField("v", PrimitiveType("void")),
    )
)


def column(*texts: str | None) -> pa.ChunkedArray:
    """The `stats` of some files."""
    return pa.chunked_array([pa.array(texts, pa.string())])


def parsed(*texts: str | None, columns: Any = None) -> list[dict[str, Any]]:  # noqa: ANN401 # names
    """What is read of each text, after a look at the table's types."""
    table = parse_statistics(column(*texts), SCHEMA, columns)
    table.validate(full=True)
    assert table.schema.equals(statistics_shape(SCHEMA, columns).arrow)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def bound(name: str, value: object) -> Any:  # noqa: ANN401 # of any type
    """The smallest value that is read where the log says `value`."""
    text = json.dumps({"minValues": {name: value}})
    return (parsed(text, columns=[name])[0]["min"] or {}).get(name)
