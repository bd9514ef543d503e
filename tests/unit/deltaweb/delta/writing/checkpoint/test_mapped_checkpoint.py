"""Checkpoints of tables that map columns: typed values by physical names."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.log.paths import checkpoint_name
from tests.support.tables.mapped_tables import MappedTable, field, struct

FIELDS = [
    field("id", "long", 1, "col-1"),
    field("home", struct(field("town", "string", 3, "col-3")), 2, "col-2"),
    field("day", "date", 4, "col-4"),
]
STATS = json.dumps(
    {
        "numRecords": 1,
        "minValues": {"col-1": 5, "col-2": {"col-3": "Bern"}},
        "maxValues": {"col-1": 5, "col-2": {"col-3": "Bern"}},
        "nullCount": {"col-1": 0, "col-2": {"col-3": 0}},
    }
)
BERN = {"col-3": "Bern"}


@pytest.fixture(params=[True, False], ids=["with texts", "with structs alone"])
def written(request: pytest.FixtureRequest) -> MappedTable:
    properties = {
        "delta.checkpoint.writeStatsAsStruct": "true",
        "delta.checkpoint.writeStatsAsJson": str(request.param).lower(),
    }
    table = MappedTable(*FIELDS, partitions=["day"], properties=properties)
    rows = pa.table({"col-1": [5], "col-2": [BERN]})
    table.add("a", rows, partitionValues={"col-4": "2026-01-05"}, stats=STATS)
    return table


def test_hold_typed_values_by_the_names_of_the_log(written: MappedTable) -> None:
    written.table.create_checkpoint()

    data = written.store.log_files[checkpoint_name(1)]
    adds = pq.read_table(pa.BufferReader(data))["add"].to_pylist()
    (file,) = [row for row in adds if row is not None]

    assert dict(file["partitionValues"]) == {"col-4": "2026-01-05"}
    assert list(file["partitionValues_parsed"]) == ["col-4"]
    parsed = file["stats_parsed"]
    assert parsed["minValues"] == {"col-1": 5, "col-2": BERN}
    assert parsed["nullCount"] == {"col-1": 0, "col-2": {"col-3": 0}}


def test_are_read_back_by_logical_names(written: MappedTable) -> None:
    before = written.table.snapshot()
    statistics, rows = before.statistics(), before.read()
    written.table.create_checkpoint()
    for version in (0, 1):
        written.store.log_files.pop(f"{version:020d}.json")

    after = written.table.snapshot()

    assert after.statistics().equals(statistics)
    assert after.read().equals(rows)
    (row,) = after.statistics().to_pylist()
    assert row["min"]["home"] == {"town": "Bern"}
