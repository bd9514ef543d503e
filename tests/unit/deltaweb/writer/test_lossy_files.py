"""No operation removes a file of which it has read fewer rows than the log says."""

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.errors import DataFileRowsError
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.files.lossy_files import (
    NUM_ROWS,
    column_cut,
    empty_first_pages,
    written,
)
from tests.support.stores.memory import MemoryTableStore
from tests.support.tables.table_builder import TableBuilder

LISTS = pa.table({"id": range(4), "l": [[i, i + 1] for i in range(4)]})
PAIRS = pa.schema([("a", pa.int64()), ("b", pa.int64())])

OPERATIONS: dict[str, Callable[[DeltaTable], Any]] = {
    "optimize": lambda table: table.optimize(),
    "cluster": lambda table: table.optimize(cluster_by=["a"]),
    "delete": lambda table: table.delete("a % 10 = 3"),
    "update": lambda table: table.update({"b": "b + 1"}, "a % 10 = 3"),
    "update all": lambda table: table.update({"b": "b + 1"}),
    "merge": lambda table: (
        table.merge(pa.table({"a": [3], "b": [0]}), on="t.a = s.a")
        .when_matched_update()
        .execute()
    ),
    "overwrite": lambda table: table.overwrite(
        pa.table({"a": [3], "b": [0]}), where="a = 3"
    ),
    "read": lambda table: table.snapshot().read(predicate="a >= 0"),
}


def replace_files(table: DeltaTable, data: bytes) -> None:
    """Put other bytes in the place of every data file, without the log's knowledge."""
    store = table.store
    assert isinstance(store, MemoryTableStore)
    for place in store.data_files:
        store.data_files[place] = data
    # The size is not compared with: a copy that lost rows may be as long.
    for name, text in store.log_files.items():
        actions = [json.loads(line) for line in text.splitlines()]
        for action in actions:
            if "add" in action:
                action["add"]["size"] = len(data)
        lines = [json.dumps(action) for action in actions]
        store.log_files[name] = "\n".join(lines).encode()


def two_files(rows: pa.Table, data: bytes, **properties: str) -> DeltaTable:
    table = TableBuilder().columns(rows.schema).properties(properties).build()
    for _ in range(2):
        table.append(rows)
    replace_files(table, data)
    return DeltaTable.from_store(table.store)


class TestMissingRows:
    @cases("act", OPERATIONS)
    @cases("vectors", {"written again": "false", "marked": "true"})
    def test_a_column_that_was_cut_stops_it(
        self, act: Callable[[DeltaTable], Any], vectors: str
    ) -> None:
        rows = pa.table({"a": range(NUM_ROWS), "b": range(NUM_ROWS)}, PAIRS)
        table = two_files(
            rows, column_cut(), **{"delta.enableDeletionVectors": vectors}
        )

        with pytest.raises(DataFileRowsError, match="its pages have 65,536"):
            act(table)

        assert table.latest_version() == 2

    @cases("act", OPERATIONS)
    def test_a_file_with_fewer_rows_than_the_log_says_stops_it(
        self, act: Callable[[DeltaTable], Any]
    ) -> None:
        rows = pa.table({"a": range(20), "b": range(20)}, PAIRS)
        table = two_files(rows, written(rows.slice(0, 19)))

        with pytest.raises(DataFileRowsError, match="19 rows, but the log says 20"):
            act(table)

        assert table.latest_version() == 2

    def test_more_rows_than_the_log_says_are_kept(self) -> None:
        rows = pa.table({"a": range(20), "b": range(20)}, PAIRS)
        more = pa.table({"a": range(21), "b": range(21)}, PAIRS)
        table = two_files(rows, written(more))

        table.optimize()

        assert table.snapshot().read().num_rows == 42

    def test_rows_that_are_limited_are_read(self) -> None:
        rows = pa.table({"a": range(NUM_ROWS), "b": range(NUM_ROWS)}, PAIRS)
        table = two_files(rows, column_cut())

        assert table.snapshot().read(limit=3)["b"].to_pylist() == [0, 1, 2]


class TestEmptyPages:
    @pytest.fixture
    def table(self) -> DeltaTable:
        return two_files(LISTS, empty_first_pages(LISTS))

    def test_all_rows_are_read(self, table: DeltaTable) -> None:
        assert table.snapshot().read()["l"].to_pylist() == LISTS["l"].to_pylist() * 2
        assert table.snapshot().read(["l"], "id = 2").num_rows == 2

    def test_an_optimization_keeps_them(self, table: DeltaTable) -> None:
        result = table.optimize()

        assert (result.num_added_files, result.num_removed_files) == (1, 2)
        assert table.snapshot().read().sort_by("id")["l"].to_pylist() == [
            one for one in LISTS["l"].to_pylist() for _ in range(2)
        ]

    def test_changes_keep_the_others(self, table: DeltaTable) -> None:
        table.delete("id = 1")
        table.update({"id": "id + 10"}, "id = 2")

        found = table.snapshot().read().sort_by("id")
        assert found["id"].to_pylist() == [0, 0, 3, 3, 12, 12]
        assert found["l"].to_pylist()[-1] == [2, 3]
