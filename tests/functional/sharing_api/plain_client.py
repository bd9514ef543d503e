"""A client of the parquet format, which takes what is in files for rows.

It knows neither deletion vectors nor column mapping, and casts nothing.
"""

import io
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.protocol.schema import arrow_schema, parse_schema
from deltaweb.delta.values.partition_values import type_partition_texts
from deltaweb.table import DeltaTable
from tests.functional.sharing_api.calls import Answer, Caller, body_of, lines
from tests.functional.sharing_api.ruled import Ruled

PROTOCOL = {"minReaderVersion": 1}
VECTORS = {"delta.enableDeletionVectors": "true"}
BY_NAME = {"delta.columnMapping.mode": "name"}
WIDE = {"delta.enableTypeWidening": "true"}

NewPlainShare = Callable[[DeltaTable], Ruled]


def by_first(table: DeltaTable, version: int | None = None) -> list[dict[str, Any]]:
    """The rows of a table as our own reader reads them."""
    found: list[dict[str, Any]] = table.snapshot(version).read().to_pylist()
    return sorted(found, key=lambda row: str(next(iter(row.values()))))


def plain_query(shared: Ruled, caller: Caller, body: object = None) -> Answer:
    """Ask for files in the parquet format."""
    return shared.query(caller, body, **{"delta-sharing-capabilities": ""})


def plain_rows(
    shared: Ruled, caller: Caller, body: object = None
) -> list[dict[str, Any]]:
    """The rows of a version, by the first of their columns."""
    answer = plain_query(shared, caller, body)
    assert answer.status_code == 200, body_of(answer)
    protocol, metadata, *files = lines(answer)
    assert protocol["protocol"] == PROTOCOL
    told = metadata["metaData"]
    found: list[dict[str, Any]] = []
    for line in files:
        data = shared.fetch(caller, line["file"]["url"])
        found += rows_of(told, line["file"], data)
    return sorted(found, key=lambda row: str(next(iter(row.values()))))


def rows_of(
    told: dict[str, Any], file: dict[str, Any], data: bytes
) -> list[dict[str, Any]]:
    """The rows of one file by the schema that an answer tells."""
    schema = parse_schema(told["schemaString"])
    stored = pq.read_table(io.BytesIO(data))
    assert set(stored.schema.names) <= {*schema.names}
    columns = {}
    for column, field in zip(schema.fields, arrow_schema(schema), strict=True):
        if column.name in told["partitionColumns"]:
            text = pa.array([file["partitionValues"][column.name]], pa.string())
            value = type_partition_texts(text, column.data_type)[0]
            columns[column.name] = pa.repeat(value, stored.num_rows)
        elif column.name in stored.schema.names:
            if "/prepared/" in file["url"]:
                assert stored.schema.field(column.name).type == field.type
            columns[column.name] = stored[column.name]
        else:
            columns[column.name] = pa.nulls(stored.num_rows, field.type)
    found: list[dict[str, Any]] = pa.table(columns).to_pylist()
    return found


def told_schema(answer: Answer) -> dict[str, Any]:
    """The schema that an answer tells."""
    found: dict[str, Any] = json.loads(lines(answer)[1]["metaData"]["schemaString"])
    return found
