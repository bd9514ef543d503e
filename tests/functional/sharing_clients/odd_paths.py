"""A table whose partition values make every kind of path."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa

from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from tests.support.tables.raw_table import Operation, TableWriter

ODD_VALUES = [
    "plain",
    "a b",
    "50%",
    "%2F",
    "x=y/z",
    "é☃",
    "a+b&c#d?e",
    "quo'te\"",
    "\U00020bb7野家",
    None,
]


def write_odd_paths(root: Path) -> None:
    """Write the table: a file for each of `ODD_VALUES`."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    long, text = PrimitiveType("long"), PrimitiveType("string")
    schema = StructType((StructField("id", long), StructField("kind", text)))
    writer = TableWriter(root, seed=7)
    writer.create(
        schema, Operation(name="CREATE", user="t", at=at), partition_columns=["kind"]
    )
    files = [
        writer.write_file(
            pa.table({"id": pa.array([number], pa.int64())}),
            at=at,
            partition_values={"kind": value},
        ).add()
        for number, value in enumerate(ODD_VALUES)
    ]
    later = at + timedelta(minutes=1)
    writer.commit(Operation(name="WRITE", user="t", at=later), files)
