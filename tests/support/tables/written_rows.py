"""Small tables that tests write to."""

import pyarrow as pa

from deltaweb.table import DeltaTable
from deltaweb.writer.making.new_table import NewTable, create_table
from tests.support.stores.memory import MemoryTableStore

SCHEMA = pa.schema([("n", pa.int64()), ("s", pa.string()), ("p", pa.string())])
ROWS = pa.table({"n": [1, 2, 3], "s": ["a", "b", None], "p": ["x", "y", "x"]})


def new_table(
    schema: pa.Schema = SCHEMA, *partition_by: str, **properties: str
) -> DeltaTable:
    store = MemoryTableStore()
    create_table(
        store, NewTable(schema=schema, partition_by=partition_by, properties=properties)
    )
    return DeltaTable.from_store(store)


def numbers(table: DeltaTable) -> list[int]:
    return sorted(table.snapshot().read()["n"].to_pylist())
