"""A table in partitions of instants, as writers of all times have spelled them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa

from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from tests.support.tables.raw_table import Operation, TableWriter

INSTANTS = [
    "2024-03-10 02:00:00",
    "2024-03-10 12:00:00.5",
    "2024-03-10T02:00:00.000000Z",
    "2024-03-10T02:00:00+05:30",
]
COLUMNS = StructType(parse_columns_ddl("id BIGINT, ts TIMESTAMP"))


def write_instants(root: Path) -> None:
    """Write the table, whose changes are recorded: a file for each of `INSTANTS`."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    writer = TableWriter(root, seed=9)
    made = Operation(name="CREATE", user="t", at=at)
    writer.create(COLUMNS, made, partition_columns=["ts"])
    with_feed = writer.metadata(
        COLUMNS,
        created_at=at,
        partition_columns=["ts"],
        configuration={"delta.enableChangeDataFeed": "true"},
    )
    versions = {"minReaderVersion": 1, "minWriterVersion": 4}
    protocol: dict[str, object] = {"protocol": versions}
    turned_on = Operation(name="SET TBLPROPERTIES", user="t", at=at)
    writer.commit(turned_on, [protocol, with_feed])
    files = [
        writer.write_file(
            pa.table({"id": pa.array([number], pa.int64())}),
            at=at,
            partition_values={"ts": value},
        ).add()
        for number, value in enumerate(INSTANTS)
    ]
    later = at + timedelta(minutes=1)
    writer.commit(Operation(name="WRITE", user="t", at=later), files)
