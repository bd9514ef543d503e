"""The bounds of files in the columns of a condition."""

from pathlib import Path

import pytest

from deltaweb.index.query.explained_files import HIGH, LOW, bound_columns, file_bounds
from deltaweb.index.query.funnel import READ, explain_snapshot
from tests.support.logs.delta_logs import add, remove
from tests.support.logs.local_logs import LocalLog, stats_of


@pytest.fixture
def log(tmp_path: Path) -> LocalLog:
    def file_of(path: str, low: int, high: int):
        stats = stats_of(1, {"id": low}, {"id": high})
        return add(path, stats=stats, partitionValues={"p": "1"})

    return LocalLog(tmp_path).start(
        file_of("a", 0, 9),
        file_of("b", 10, 19),
        add("c", partitionValues={"p": "1"}),
        file_of("d", 30, 39),
        partitionColumns=["p"],
    )


def test_are_in_the_order_of_the_version_without_removed_files(log: LocalLog):
    log.commit(1, remove("b"))
    table = log.table
    found, parts = explain_snapshot(
        table.snapshot_metadata(), table.root, "id > 15 AND p = 1 AND name IS NULL"
    )

    bounds = file_bounds(found, parts)

    assert bounds[LOW].to_pylist() == [{"id": 0}, {"id": None}, {"id": 30}]
    assert bounds[HIGH].to_pylist() == [{"id": 9}, {"id": None}, {"id": 39}]
    read = found.funnel.reasons_of(READ)
    is_read = [one in read for one in bounds["reason"].to_pylist()]
    assert is_read == [False, True, True]
    assert bound_columns(found.question) == [("id",)]


@pytest.mark.parametrize("sql", ["p = 1", "id % 2 = 0", "TRUE"])
def test_have_no_column_if_no_statistics_are_compared(log: LocalLog, sql: str):
    table = log.table
    found, parts = explain_snapshot(table.snapshot_metadata(), table.root, sql)

    bounds = file_bounds(found, parts)

    assert bound_columns(found.question) == []
    assert (bounds.num_rows, bounds[LOW].to_pylist()) == (4, [{}] * 4)
