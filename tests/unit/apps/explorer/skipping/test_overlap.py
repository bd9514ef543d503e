"""The ranges of files in the columns of a condition, as bars."""

from datetime import UTC
from pathlib import Path

import pytest

from apps.explorer.skipping.found import ExplainedFilter
from apps.explorer.skipping.overlap import ColumnOverlap, overlaps_of
from deltaweb.index.query.explained_files import file_bounds
from deltaweb.index.query.funnel import explain_snapshot
from tests.support import cases
from tests.support.logs.delta_logs import add
from tests.support.logs.local_logs import LocalLog, stats_of


@pytest.fixture
def log(tmp_path: Path) -> LocalLog:
    """Files of ten ids each in two partitions, one with all ids and one unknown."""

    def file_of(path: str, low: int, high: int, p: str = "1"):
        bounds = {"id": low, "name": f"n{low:03}"}, {"id": high, "name": f"n{high:03}"}
        stats = stats_of(1, *bounds)
        return add(path, stats=stats, partitionValues={"p": p})

    return LocalLog(tmp_path).start(
        *(file_of(f"f{one}", one * 10, one * 10 + 9) for one in range(10)),
        file_of("wide", 0, 99),
        file_of("other", 0, 99, p="2"),
        add("unknown", partitionValues={"p": "1"}),
        partitionColumns=["p"],
    )


class FilesOfALog:
    def __init__(self, found, parts) -> None:
        self.key = id(self)
        self.bounds = lambda: file_bounds(found, parts)


def overlaps(log: LocalLog, sql: str) -> tuple[ColumnOverlap, ...]:
    table = log.table
    found, parts = explain_snapshot(table.snapshot_metadata(), table.root, sql)
    explained = ExplainedFilter(
        question=found.question,
        funnel=found.funnel,
        files=FilesOfALog(found, parts),  # type: ignore[arg-type]  # no list is read
    )
    return overlaps_of(explained, sql, UTC)


def test_the_files_that_the_partitions_leave_have_bars(log: LocalLog) -> None:
    (found,) = overlaps(log, "id >= 75 AND p = 1")

    assert (found.name, found.condition) == ("id", "id >= 75")
    assert (found.num_files, found.num_known, found.num_read) == (12, 11, 5)
    assert len(found.bars) == 11
    assert sum(bar.is_read for bar in found.bars) == 4
    assert (found.first, found.last) == ("0", "99")


def test_an_average_value_is_in_its_own_file_and_in_the_wide_one(log: LocalLog):
    (found,) = overlaps(log, "id >= 75 AND p = 1")

    assert found.files_of_a_value == 2
    assert found.percent_of_a_value == 18
    assert not found.is_estimate


@cases(
    "sql, x, width",
    {
        "above": ("id >= 33", 33.33, 66.67),
        "below": ("id < 33", 0.0, 33.33),
        "between": ("id >= 33 AND id < 66", 33.33, 33.34),
        "beyond the files": ("id > 1000", 100.0, 0.0),
    },
)
def test_the_range_of_the_condition_is_marked(log: LocalLog, sql, x, width) -> None:
    (found,) = overlaps(log, sql)

    assert found.is_marked
    assert (found.wanted_x, found.wanted_width) == (x, width)


def test_texts_are_in_their_order(log: LocalLog) -> None:
    (found,) = overlaps(log, "name = 'n045'")

    assert not found.is_to_scale
    assert found.wanted_width == 0
    assert 40 < found.wanted_x < 60
    assert found.marks == [(found.wanted_x, "n045")]


def test_a_mark_says_its_value_if_there_is_room(log: LocalLog) -> None:
    (found,) = overlaps(log, "id > 33 AND id < 98")
    (pattern,) = overlaps(log, "name LIKE 'n05%'")

    assert found.marks == [(33.33, "33"), (98.99, "")]
    assert [value for _, value in pattern.marks] == ["n05", ""]


@pytest.mark.parametrize("sql", ["id != 5", "NOT (id < 5)"])
def test_a_condition_without_a_range_is_not_marked(log: LocalLog, sql: str) -> None:
    (found,) = overlaps(log, sql)

    assert not found.is_marked


@pytest.mark.parametrize("sql", ["p = 1", "price > 3", "id % 2 = 0"])
def test_a_column_without_ranges_has_no_bars(log: LocalLog, sql: str) -> None:
    assert overlaps(log, sql) == ()
