"""Four files that hints select from, and hints in both of their forms."""

import json
from typing import Any

import pyarrow as pa

from deltaweb.conditions.hints import Hints, parse_hints
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.delta.scan.predicate import And
from deltaweb.delta.scan.pruning import files_for_predicate
from deltaweb.delta.values.partition_values import (
    partition_schema,
    type_partition_values,
)
from deltaweb.delta.values.statistics.columns import parse_statistics

SCHEMA = StructType(
    (
        *parse_columns_ddl(
            "day DATE, ts TIMESTAMP, p INT, k STRING, price DECIMAL(10, 2), qty INT, "
            "big BIGINT, long_price DECIMAL(38, 2), amount DOUBLE, rate FLOAT, "
            "at TIMESTAMP, local TIMESTAMP_NTZ, born DATE, ok BOOLEAN, raw BINARY, "
            "name STRING, `odd name` STRING, date DATE, list ARRAY<BIGINT>, "
            "st STRUCT<x: INT>"
        ),
        StructField("nothing", PrimitiveType("void")),
        StructField("padded", PrimitiveType("string", "char(5)")),
        StructField("limited", PrimitiveType("string", "varchar(5)")),
        StructField("loud", PrimitiveType("string", "string collate UTF8_LCASE")),
        StructField(
            "spark_padded",
            PrimitiveType("string"),
            metadata={"__CHAR_VARCHAR_TYPE_STRING": "char(5)"},
        ),
    )
)
PARTITIONS = ("day", "ts", "p", "k", "price")
FILES: dict[str, dict[str, str | None]] = {
    "a": {"day": "2021-04-26", "ts": "2020-05-02 01:02:03", "p": "8", "k": "it's"},
    "b": {"day": "2021-04-27", "ts": "2020-05-02T01:02:03.654321Z", "p": "9", "k": ""},
    "c": {"day": "2021-04-28", "ts": "2020-05-03 00:00:00.5", "p": "10", "k": "its"},
    "d": {"day": None, "ts": None, "p": None, "k": None, "price": "1.50"},
}
DAY_1 = "2024-01-01T00:00:00.000Z"
STATS: dict[str, dict[str, Any]] = {
    "a": {
        "min": {"qty": 1, "at": DAY_1, "name": "Anna", "amount": 1},
        "max": {"qty": 5, "at": DAY_1, "name": "Bert", "amount": 9},
    },
    "b": {
        "min": {
            "qty": 6,
            "at": "2024-01-02T00:00:00.000Z",
            "name": "Carl",
            "amount": 10,
        },
        "max": {
            "qty": 9,
            "at": "2024-01-03T00:00:00.000Z",
            "name": "Dora",
            "amount": 20,
        },
    },
    "c": {
        "min": {"qty": 10, "st": {"x": 1}, "born": "2000-01-01", "rate": 1},
        "max": {"qty": 10, "st": {"x": 3}, "born": "2000-12-31", "rate": 2},
    },
    "d": {"min": {"name": "Emil"}, "max": {"name": "Emil"}},
}


def selected(hints: Hints) -> str:
    """The names of the files that the hints leave."""
    maps = pa.array(
        [list(values.items()) for values in FILES.values()],
        pa.map_(pa.string(), pa.string()),
    )
    stats = pa.chunked_array(
        [
            [
                json.dumps(
                    {
                        "numRecords": 3,
                        "minValues": item["min"],
                        "maxValues": item["max"],
                        "nullCount": {"qty": 3 if name == "d" else 0},
                    }
                )
                for name, item in STATS.items()
            ]
        ]
    )
    columns = partition_schema(SCHEMA, PARTITIONS)
    typed = type_partition_values(pa.chunked_array([maps]), columns, stats)
    mask = files_for_predicate(
        And(hints.predicates),
        typed.combine_chunks(),
        lambda paths: parse_statistics(stats, SCHEMA, paths),
    )
    return "".join(name for name, kept in zip(FILES, mask, strict=True) if kept)


def sql_hints(*texts: object, beside_json: str | None = None) -> Hints:
    return parse_hints(
        predicate_hints=list(texts), json_predicate_hints=beside_json, schema=SCHEMA
    )


def json_hints(tree: object) -> Hints:
    text = tree if isinstance(tree, str) else json.dumps(tree)
    return parse_hints(predicate_hints=None, json_predicate_hints=text, schema=SCHEMA)


def column(name: str, value_type: str | None = "int") -> dict[str, Any]:
    leaf = {"op": "column", "name": name}
    return {**leaf, "valueType": value_type} if value_type else leaf


def literal(value: object, value_type: str = "int") -> dict[str, Any]:
    return {"op": "literal", "value": value, "valueType": value_type}


def op(name: str, *children: object) -> dict[str, Any]:
    return {"op": name, "children": list(children)}


def pair(name: str, named: str, value: object, value_type: str = "int") -> Any:  # noqa: ANN401 (JSON)
    """A comparison of a column with a value of one type."""
    return op(name, column(named, value_type), literal(value, value_type))


SECOND = "TIMESTAMP '2020-05-02 01:02:03'"
TEXT = "CAST(partitionValues.k AS STRING)"
TRUE = {"op": "literal", "value": True, "valueType": "bool"}
EQUAL = pair("equal", "p", "9")
