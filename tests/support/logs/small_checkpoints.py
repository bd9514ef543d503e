"""The smallest checkpoints, with schemas of their own."""

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.log.paths import checkpoint_name
from deltaweb.delta.snapshot import Snapshot
from tests.support.logs.delta_logs import LogBuilder, metadata, protocol

HEAD = [protocol(), metadata(partitionColumns=["p"])]
SCHEMA_STRING = (
    '{"type":"struct","fields":[{"name":"n","type":"long","nullable":true,'
    '"metadata":{}}]}'
)


def snapshot_of(rows: list[dict[str, Any]], schema: pa.Schema) -> Snapshot:
    """Return the snapshot of a checkpoint with a schema of its own."""
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), sink)
    return snapshot_of_bytes(sink.getvalue())


def snapshot_of_bytes(data: bytes) -> Snapshot:
    builder = LogBuilder()
    builder.store.put(checkpoint_name(5), data)
    return builder.table.snapshot()


def schema_with(*add_fields: tuple[str, pa.DataType]) -> pa.Schema:
    """Return the smallest checkpoint schema, and more fields of add."""
    return pa.schema(
        [
            ("add", pa.struct([("path", pa.string()), *add_fields])),
            (
                "metaData",
                pa.struct(
                    [
                        ("id", pa.string()),
                        ("schemaString", pa.string()),
                        ("partitionColumns", pa.list_(pa.string())),
                    ]
                ),
            ),
            (
                "protocol",
                pa.struct(
                    [("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32())]
                ),
            ),
        ]
    )


SMALL_HEAD: list[dict[str, Any]] = [
    {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
    {"metaData": {"id": "t", "schemaString": SCHEMA_STRING, "partitionColumns": ["p"]}},
]
