"""Files whose statistics a checkpoint holds only typed take them along as text."""

import json
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.table import DeltaTable
from tests.support.tables.table_builder import TableBuilder

TYPED_ALONE = {
    "delta.enableDeletionVectors": "true",
    "delta.checkpoint.writeStatsAsJson": "false",
    "delta.checkpoint.writeStatsAsStruct": "true",
}


# Ten rows in one file, one of them marked; then a checkpoint.
TABLE = (
    TableBuilder()
    .properties(TYPED_ALONE)
    .rows(n=range(10), s=[f"s{n}" for n in range(10)])
    .then(lambda table: table.delete("n = 3"), DeltaTable.create_checkpoint)
)


def added(table: DeltaTable) -> list[dict[str, Any]]:
    commit = table.read_commit(table.latest_version())
    return [action["add"] for action in commit if "add" in action]


def merge(table: DeltaTable) -> None:
    source = pa.table({"n": [5], "s": ["new"]})
    table.merge(source, on="t.n = s.n").when_matched_update().execute()


def restore(table: DeltaTable) -> None:
    version = table.latest_version()
    table.delete()
    table.restore(version)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda table: table.delete("n = 5"), id="delete"),
        pytest.param(lambda table: table.update({"s": "'x'"}, "n = 5"), id="update"),
        merge,
        restore,
    ],
)
def test_a_file_that_is_added_once_more_keeps_what_is_known_of_it(table, change):
    change(table)

    (marked,) = [file for file in added(table) if file.get("deletionVector")]
    assert json.loads(marked["stats"]) == {
        "numRecords": 10,
        "tightBounds": False,
        "minValues": {"n": 0, "s": "s0"},
        "maxValues": {"n": 9, "s": "s9"},
        "nullCount": {"n": 0, "s": 0},
    }


def test_a_checkpoint_says_typed_that_bounds_are_wide(table: DeltaTable) -> None:
    table.append(pa.table({"n": [10], "s": ["a"]}))
    table.create_checkpoint()

    columns = [b.statistics().parsed for b in table.snapshot().state.blocks]
    parsed = [row for c in columns if c is not None for row in c.to_pylist()]

    assert sorted(row["tightBounds"] is False for row in parsed) == [False, True]
