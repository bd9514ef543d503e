"""A table with structs whose commits are those of an earlier release."""

import re
from pathlib import Path

import pyarrow as pa

from deltaweb.table import DeltaTable

XY = pa.struct({"x": pa.int32(), "y": pa.int32()})
SCHEMA = pa.schema(
    {"id": pa.int64(), "st": XY, "n": pa.int32(), "odd `ar": pa.list_(XY)}
)
MAPPED = {"delta.columnMapping.mode": "name"}


def make_table(
    place: Path, schema: pa.Schema = SCHEMA, **properties: str
) -> DeltaTable:
    """A table whose rows are changed by an update, a delete and a merge."""
    table = DeltaTable.create(str(place), schema, properties=properties)
    rows = [{"id": n, "n": n} for n in range(4)]
    table.append(pa.Table.from_pylist(rows, schema))
    table.update({"n": "n + 1"}, "id = 1")
    table.delete("id = 2")
    merge = table.merge(pa.table({"id": [3]}), on="t.id = s.id")
    merge.when_matched_update({"n": "7"}).execute()
    return table


def made_by(table: DeltaTable, version: int, engine: str) -> None:
    path = Path(table.root) / f"_delta_log/{version:020}.json"
    text = path.read_text()
    path.write_text(re.sub(r'"engineInfo": ?"[^"]*"', f'"engineInfo":"{engine}"', text))
