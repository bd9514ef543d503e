"""What does not read ends a replay by the error that the in-process engine has."""

import base64
import pickle
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import DeltaError, LogCorruptError, PathEscapesTableError
from deltaweb.delta.log.paths import checkpoint_name, commit_name
from deltaweb.delta.log.store import FileStatus
from deltaweb.delta.writing.errors import ConstraintViolatedError
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.logs.delta_logs import (
    add,
    checkpoint_bytes,
    commit_bytes,
    metadata,
    protocol,
    remove,
    txn,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

OPENING = [protocol(), metadata()]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of three commits and a checkpoint of the first two."""
    folder = tmp_path / "_delta_log"
    folder.mkdir()
    commits = [[*OPENING, add("a")], [add("b"), txn("app", 1)], [remove("a")]]
    for version, actions in enumerate(commits):
        (folder / commit_name(version)).write_bytes(commit_bytes(*actions))
    actions = [*OPENING, txn("app", 1), add("a"), add("b")]
    (folder / checkpoint_name(1)).write_bytes(checkpoint_bytes(actions))
    return folder


def paths(spark: "SparkSession", log: Path) -> list[str]:
    from deltaweb.spark.log.replay import use_state
    from deltaweb.storage.place import TablePlace

    return use_state(
        spark,
        TablePlace(str(log.parent)),
        None,
        lambda state: sorted(row["path"] for row in state.live_files().collect()),
    )


def paths_here(log: Path) -> list[str]:
    return sorted(DeltaTable(str(log.parent)).snapshot().files["path"].to_pylist())


def outcome(read: "Callable[[], list[str]]") -> tuple[str, object]:
    """What a reader makes of a log: its files, or its error."""
    try:
        return "files", read()
    except DeltaError as error:
        return type(error).__name__, str(error)


class TestABrokenCheckpoint:
    def test_is_passed_over_where_its_footer_does_not_read(self, spark, log):
        (log / checkpoint_name(1)).write_bytes(b"PAR1 torn")

        assert paths(spark, log) == ["b"]

    def test_is_passed_over_where_a_task_finds_it_broken(self, spark, log):
        _break_pages(log / checkpoint_name(1))

        assert paths(spark, log) == ["b"]

    def test_is_the_error_where_nothing_else_builds_the_version(self, spark, log):
        _break_pages(log / checkpoint_name(1))
        (log / commit_name(0)).unlink()

        with pytest.raises(LogCorruptError, match="checkpoint") as caught:
            paths(spark, log)
        assert caught.value.path.endswith(checkpoint_name(1))


def _break_pages(checkpoint: Path) -> None:
    """Spoil the values of a file whose footer stays good."""
    data = bytearray(checkpoint.read_bytes())
    # What the driver reads stays good: only paths of files are spoilt.
    footer = pq.read_metadata(checkpoint)
    for group in range(footer.num_row_groups):
        for column in range(footer.num_columns):
            chunk = footer.row_group(group).column(column)
            if chunk.path_in_schema == "add.path":
                start = chunk.dictionary_page_offset or chunk.data_page_offset
                end = start + chunk.total_compressed_size
                data[start:end] = b"\xff" * (end - start)
    checkpoint.write_bytes(data)


class TestALogElsewhere:
    def test_is_read_by_tasks_where_a_root_allows_it(
        self,
        spark: "SparkSession",
        log: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        from deltaweb.spark.log import reader as log_reader
        from deltaweb.spark.log.replay import use_state
        from deltaweb.storage.place import TablePlace

        monkeypatch.setattr(log_reader, "PACK_COMMITS", 1)  # in tasks
        linked = tmp_path / "lake" / "linked"
        linked.mkdir(parents=True)
        (linked / "_delta_log").symlink_to(log)

        def paths_by(*roots: str) -> list[str]:
            source = TablePlace(str(linked), allowed_roots=roots)
            return use_state(
                spark,
                source,
                None,
                lambda state: [row["path"] for row in state.live_files().collect()],
            )

        assert paths_by(str(log.parent)) == ["b"]
        with pytest.raises(PathEscapesTableError, match="_delta_log"):
            paths_by()


HOSTILE = {
    "torn": b"{torn\n",
    "no object": b"null\n",
    "no path": b'{"add":{"path":null}}\n',
    "two actions": b'{"add":{"path":"c"},"remove":{"path":"c"}}\n',
    "a size that is no long": b'{"add":{"path":"c","size":1.5}}\n',
    "too large": b'{"add":{"path":"c","size":9223372036854775808}}\n',
    "nested deeply": b"[" * 100_000 + b"\n",
    "not UTF-8": b'{"add":{"path":"\xff"}}\n',
    "a whole fraction": b'{"add":{"path":"c","size":1.0}}\n',
    "a key given twice": b'{"add":{"path":"c","path":"d"}}\n',
    "a byte order mark": b'\xef\xbb\xbf{"add":{"path":"c"}}\n',
    "a key with an escape": b'{"\\u0061dd":{"path":"c"}}\n',
    "an unknown action": b'\n\n{"unknown":{"add":{"path":"x"}}}\n',
}
# Tasks read by the code of the process: a kind of each refusal, and what is no fault.
OFTEN = {"torn", "nested deeply", "not UTF-8", "a key with an escape"}


class TestAHostileCommit:
    @cases("data", HOSTILE, often=OFTEN)
    def test_is_read_or_refused_as_in_process(self, spark, log, data, monkeypatch):
        from deltaweb.spark.log import reader as log_reader

        monkeypatch.setattr(log_reader, "PACK_COMMITS", 1)  # in tasks
        (log / commit_name(2)).write_bytes(data)
        (log / commit_name(3)).write_bytes(commit_bytes(add("z")))

        here = outcome(lambda: paths_here(log))
        there = outcome(lambda: paths(spark, log))

        assert there == here


class TestPackCommits:
    def test_keeps_the_order_and_bounds_bytes_and_count(self, monkeypatch):
        from deltaweb.spark.log import reader as log_reader

        monkeypatch.setattr(log_reader, "PACK_BYTES", 10)
        monkeypatch.setattr(log_reader, "PACK_COMMITS", 3)
        sizes = [4, 6, 1, 50, 0, 0, 0, 0]
        commits = [FileStatus(str(n), size, 0) for n, size in enumerate(sizes)]

        packs = log_reader.pack_commits(commits)

        names = [pack.names for pack in packs]
        assert names == [("0", "1"), ("2",), ("3",), ("4", "5", "6"), ("7",)]
        assert [pack.size_bytes for pack in packs] == [10, 1, 50, 0, 0]


class TestTaskFaults:
    def test_carry_the_very_error_in_a_text(self) -> None:
        from deltaweb.spark.task_faults import TaskFaultError, find_fault

        error = LogCorruptError(path="s3://b/_delta_log/ü'\"", reason="broken")

        found = find_fault(f"org.apache.SparkException: {TaskFaultError(error)}\n\tat")

        assert isinstance(found, LogCorruptError)
        assert (found.path, found.reason, str(found)) == (
            error.path,
            error.reason,
            str(error),
        )

    def test_carry_facts_of_any_type(self) -> None:
        from deltaweb.spark.task_faults import carried, find_fault

        facts: dict[str, Any] = {
            "name": "late",
            "expression": "x > 1",
            "rows": [{"day": date(2024, 3, 10), "n": Decimal("1.50"), "b": b"\xff"}],
            "more": (None, True, datetime(2024, 3, 10, tzinfo=UTC), {"k": [1.5]}),
        }

        found = find_fault(carried(ConstraintViolatedError(**facts)))

        assert isinstance(found, ConstraintViolatedError)
        assert {name: vars(found)[name] for name in facts} == facts

    @cases(
        "made",
        {
            "a pickle": lambda: pickle.dumps(ZeroDivisionError()),
            "a class that is no error": lambda: b'["Any", [], {}]',
            "a name that is unknown": lambda: b'["os.system", ["true"], {}]',
            "facts of no known type": lambda: (
                b'["DeltaError", [], {"a": {"eval": "1"}}]'
            ),
            "no JSON": lambda: b"\xff",
        },
    )
    def test_take_nothing_that_an_expression_has_made_up(self, made) -> None:
        from deltaweb.spark.task_faults import MARK, find_fault

        text = base64.b64encode(made()).decode()

        assert find_fault(f"[USER_RAISED_EXCEPTION] {MARK}{text}. SQLSTATE") is None

    def test_find_nothing_in_other_texts(self) -> None:
        from deltaweb.spark.task_faults import find_fault

        assert find_fault("java.lang.OutOfMemoryError: Java heap space") is None
