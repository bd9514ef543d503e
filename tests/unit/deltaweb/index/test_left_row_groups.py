"""The row groups that a condition leaves are those that readers read."""

from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.delta.errors import DataFileMissingError
from deltaweb.index import left_row_groups as module
from deltaweb.index.left_row_groups import (
    LeftRowGroups,
    TooManyFootersError,
    added_up,
    left_row_groups,
)
from deltaweb.index.query.funnel import Explanation, explain_snapshot
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.tables.grouped_table import grouped_table


@pytest.fixture
def table(tmp_path: Path) -> DeltaTable:
    return grouped_table(tmp_path / "table")


def counted(table: DeltaTable, sql: str) -> tuple[Explanation, pa.Table, LeftRowGroups]:
    found, parts = explain_snapshot(table.snapshot_metadata(), table.root, sql)
    groups = left_row_groups(found, parts, table.store.open_data_file)
    return found, groups, added_up(groups)


@cases(
    "sql, files, groups, rows",
    {
        "a range": ("id >= 75", (2, 2), (8, 10), 80),
        "one value": ("id = 57", (1, 1), (1, 5), 10),
        "a column without file statistics": ("name = 'n057'", (3, 1), (1, 15), 10),
        "both": ("id > 40 AND name < 'n060'", (3, 2), (2, 15), 20),
        "a value between row groups": ("id > 49 AND id < 50", (0, 0), (0, 0), 0),
        "nothing that is understood": ("id % 2 = 0", (3, 3), (15, 15), 150),
    },
)
def test_row_groups_are_left_by_their_own_statistics(
    table: DeltaTable, sql: str, files: tuple[int, int], groups: tuple[int, int], rows
) -> None:
    found, _, left = counted(table, sql)

    assert (found.funnel.after_statistics.num_files, left.amount.num_files) == files
    assert (left.num_groups, left.num_all_groups) == groups
    assert left.amount.num_records == rows


def test_bytes_are_those_of_whole_files_or_of_the_row_groups_that_are_left(
    table: DeltaTable,
):
    whole = counted(table, "id % 2 = 0")
    part = counted(table, "id >= 75")

    assert whole[2].amount.size_bytes == whole[0].funnel.total.size_bytes
    half, all_of_it = part[1]["bytes_left"].to_pylist()
    sizes = table.snapshot().files["size"].to_pylist()
    assert 0 < half < all_of_it * 0.6
    assert all_of_it == sizes[2]


def test_rows_that_a_vector_deletes_do_not_count(table: DeltaTable):
    table.delete("id = 57 OR id = 81")

    assert counted(table, "id = 55")[2].amount.num_records == 9
    assert counted(table, "id >= 100")[2].amount.num_records == 50
    assert counted(table, "id >= 75 AND id < 100")[2].amount.num_records == 29


def test_each_file_says_its_row_groups(table: DeltaTable):
    _, groups, _ = counted(table, "id >= 75")

    assert groups["path"].to_pylist() == ["part-1.parquet", "part-2.parquet"]
    assert groups["row_groups"].to_pylist() == [5, 5]
    assert groups["row_groups_left"].to_pylist() == [3, 5]


def test_more_files_than_footers_are_read_of_are_refused(
    table: DeltaTable, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "MAX_FOOTERS", 2)

    assert counted(table, "id >= 75")[2].num_all_groups == 10
    with pytest.raises(TooManyFootersError) as caught:
        counted(table, "id >= 0")
    assert caught.value.message == (
        "The condition leaves 3 files, and row groups are counted in at most 2."
    )


def test_a_missing_file_is_an_error_as_for_a_reader(table: DeltaTable):
    (Path(table.root) / "part-2.parquet").unlink()

    with pytest.raises(DataFileMissingError, match=r"part-2\.parquet"):
        counted(table, "id >= 75")
    assert counted(table, "id = 57")[2].num_groups == 1


def test_progress_counts_files_and_may_stop_the_work(table: DeltaTable):
    found, parts = explain_snapshot(table.snapshot_metadata(), table.root, "id >= 0")
    told = []

    def report(done: int, total: int) -> None:
        told.append((done, total))
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        left_row_groups(found, parts, table.store.open_data_file, report)
    assert told == [(1, 3), (2, 3)]
