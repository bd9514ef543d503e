"""Every file has the rows that the log says, or reading it is an error."""

import io
import json
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import DataFileRowsError, LogCorruptError
from deltaweb.delta.log.paths import commit_name
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.logs.delta_logs import LogBuilder, add, commit_bytes, schema_string

NUM_ROWS = 20
FEW, MANY = 3, 80
"""Files whose statistics a snapshot holds, and files of which it reads them again."""
LONG = 2_000
AS_STRUCT = {
    "delta.checkpoint.writeStatsAsStruct": "true",
    "delta.checkpoint.writeStatsAsJson": "false",
}
Statistics = Callable[[int], object]


def whole(n: int) -> str:
    """Return statistics that are short."""
    return json.dumps({"numRecords": NUM_ROWS, "n": n})


def long(n: int) -> str:
    return json.dumps({"numRecords": NUM_ROWS, "n": f"{n:0{LONG}}"})


def none(_n: int) -> None:
    """Return no statistics."""


def logged(num_files: int, stats: Statistics, **configuration: str) -> LogBuilder:
    """Return the log of files that have `NUM_ROWS` rows each."""
    sink = io.BytesIO()
    rows = pa.table({"id": [str(n) for n in range(NUM_ROWS)]})
    pq.write_table(rows, sink)
    adds = [add(f"{n}.parquet", stats=stats(n)) for n in range(num_files)]
    log = LogBuilder().start(
        *adds, schemaString=schema_string("id"), configuration=configuration
    )
    for n in range(num_files):
        log.store.put_data_file(f"{n}.parquet", sink.getvalue())
    return log


def with_checkpoint(log: LogBuilder) -> LogBuilder:
    """Return a log whose files are in a checkpoint alone."""
    log.table.create_checkpoint()
    log.store.log_files[commit_name(0)] = commit_bytes()
    return log


TABLES: dict[str, Callable[[Statistics | None], LogBuilder]] = {
    "a short tail": lambda stats: logged(FEW, stats or whole),
    "a long tail": lambda stats: logged(MANY, stats or long),
    "a small checkpoint": lambda stats: with_checkpoint(logged(FEW, stats or whole)),
    "a checkpoint": lambda stats: with_checkpoint(logged(MANY, stats or long)),
    "a typed checkpoint": lambda stats: with_checkpoint(
        logged(FEW, stats or whole, **AS_STRUCT)
    ),
}


def cut(log: LogBuilder) -> DeltaTable:
    """Take the last row of a file away."""
    sink = io.BytesIO()
    pq.write_table(pa.table({"id": [str(n) for n in range(NUM_ROWS - 1)]}), sink)
    log.store.delete_data_file("1.parquet")
    log.store.put_data_file("1.parquet", sink.getvalue())
    return log.table


@cases("build", TABLES)
class TestWithoutACondition:
    def test_a_file_with_fewer_rows_than_the_log_says_is_an_error(
        self, build: Callable[[Statistics | None], LogBuilder]
    ) -> None:
        snapshot = cut(build(None)).snapshot()

        with pytest.raises(DataFileRowsError, match="19 rows, but the log says 20"):
            snapshot.read()

    def test_rows_are_read_as_often_as_they_are_asked_for(
        self, build: Callable[[Statistics | None], LogBuilder]
    ) -> None:
        snapshot = build(None).table.snapshot()

        assert snapshot.read().num_rows == NUM_ROWS * snapshot.num_files
        assert snapshot.read(["id"]).num_rows == NUM_ROWS * snapshot.num_files
        assert snapshot.read(limit=3).num_rows == 3

    def test_files_without_statistics_are_read(
        self, build: Callable[[Statistics | None], LogBuilder]
    ) -> None:
        snapshot = cut(build(none)).snapshot()

        assert snapshot.read().num_rows == NUM_ROWS * snapshot.num_files - 1


@cases("name", {"a short tail": "a short tail", "small": "a small checkpoint"})
def test_the_log_of_a_small_table_is_read_once(name: str) -> None:
    log = TABLES[name](None)
    snapshot = cut(log).snapshot()
    log.store.log_files.clear()

    with pytest.raises(DataFileRowsError):
        snapshot.read()


def test_files_of_a_checkpoint_and_of_later_commits_are_compared() -> None:
    log = with_checkpoint(logged(FEW, whole))
    log.commit(1, add("1.parquet", stats='{"numRecords":21}'))

    with pytest.raises(DataFileRowsError, match="20 rows, but the log says 21"):
        log.table.snapshot().read()


def test_a_version_that_is_reached_step_by_step_compares_as_well() -> None:
    log = logged(FEW, whole)
    held = log.table.snapshot()
    assert held.read().num_rows == NUM_ROWS * FEW

    log.commit(1, add("1.parquet", stats='{"numRecords":21}'))

    with pytest.raises(DataFileRowsError, match="20 rows, but the log says 21"):
        log.table.refresh(held).read()


@cases("stats", {"a number": 5, "half a character": "\ud800"})
def test_statistics_that_do_not_read_leave_the_rows(stats: object) -> None:
    snapshot = logged(FEW, lambda _: stats).table.snapshot()

    assert snapshot.read().num_rows == NUM_ROWS * FEW
    with pytest.raises(LogCorruptError):
        snapshot.statistics()


def test_a_condition_skips_a_file_that_the_log_says_is_empty() -> None:
    # "Per-file Statistics": numRecords is the number of records of the file, and a
    # column whose nullCount equals it is NULL in every row. So a file of 0 rows has
    # none for which a condition on the column is true. Without one nothing is skipped.
    stats = json.dumps(
        {
            "numRecords": 0,
            "nullCount": {"id": 0},
            "minValues": {"id": "0"},
            "maxValues": {"id": "9"},
        }
    )
    snapshot = logged(FEW, lambda _: stats).table.snapshot()

    assert snapshot.read(predicate="id = '1'").num_rows == 0
    assert snapshot.read(predicate="id IS NULL").num_rows == 0
    assert snapshot.read().num_rows == NUM_ROWS * FEW
