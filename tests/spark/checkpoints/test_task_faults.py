"""Tasks that die, run twice or meet a full disk leave a whole checkpoint or none."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import deltalake
import pyarrow as pa
import pytest

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log_path import checkpoint_name
from deltaweb.table import DeltaTable
from tests.delta_logs import LogBuilder, add, remove
from tests.spark.checkpoints.both_engines import (
    assert_same,
    built_here,
    names_in,
    request_of,
)
from tests.spark.checkpoints.failing_stores import DyingSource, FullSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

by_one_task_and_shuffled = pytest.mark.parametrize(
    ("parts", "cores"),
    [
        pytest.param(None, 0, id="a single file"),
        pytest.param(2, 0, id="shuffled parts"),
        pytest.param(2, 1 << 10, id="parts by one task"),
    ],
    indirect=["cores"],
)


@by_one_task_and_shuffled
def test_a_task_whose_process_is_killed_twice_is_done_by_the_third(
    spark: "SparkSession", tmp_path: Path, parts: int | None
) -> None:
    from deltaweb.spark.checkpoint import build_checkpoint

    log = LogBuilder().start(*(add(f"f{n}") for n in range(9))).commit(1, remove("f1"))
    here, there = (log.on_disk(tmp_path / side) for side in "ab")
    marks = tmp_path / "marks"
    marks.mkdir()
    source: Any = DyingSource(str(there), marks, times=2)

    written = build_checkpoint(spark, source, request_of(parts=parts))

    assert len(list(marks.iterdir())) == 2
    one = built_here(here, request_of(parts=parts))
    built_here(there, request_of(0))  # takes away what the dead ones left
    (there / "_delta_log" / checkpoint_name(0)).unlink()
    assert_same(here, there, one, written)


def test_a_task_whose_process_is_killed_each_time_fails_the_work(
    spark: "SparkSession", tmp_path: Path
) -> None:
    from deltaweb.spark.checkpoint import TaskDiedError, build_checkpoint

    log = LogBuilder().start(add("a")).commit(1, add("b"))
    folder = log.on_disk(tmp_path / "table")
    marks = tmp_path / "marks"
    marks.mkdir()
    source: Any = DyingSource(str(folder), marks, times=1_000)

    with pytest.raises(TaskDiedError, match="more memory"):
        build_checkpoint(spark, source, request_of())

    left = names_in(folder) - set(log.store.log_files)
    assert all(name.startswith(".") for name in left)
    assert deltalake.DeltaTable(str(folder)).version() == 1
    assert DeltaTable(str(folder)).snapshot().state.checkpoint is None
    built_here(folder, request_of())
    assert not any(name.startswith(".") for name in names_in(folder))


def test_of_a_task_that_runs_twice_one_file_is_taken(tmp_path: Path) -> None:
    from deltaweb.spark.checkpoint_progress import TaskProgress
    from deltaweb.spark.checkpoint_tasks import write_alone
    from deltaweb.spark.log_reader import LogSource

    log = LogBuilder().start(add("a")).commit(1, add("b"))
    folder = log.on_disk(tmp_path / "table")
    store = DeltaTable(str(folder)).store
    attempt = partial(
        write_alone,
        LogSource(str(folder)),
        request_of(1),
        "build",
        TaskProgress(str(tmp_path), "write"),
    )

    rows = [row for _ in range(2) for batch in attempt(0) for row in _rows(batch)]

    assert DeltaTable(str(folder)).snapshot().state.checkpoint is None
    assert deltalake.DeltaTable(str(folder)).version() == 1
    store.take_over(rows[1]["name"], rows[1]["beside"]).commit()
    assert store.remove_handed_over("build") == [rows[0]["beside"]]
    snapshot = DeltaTable(str(folder)).snapshot()
    assert snapshot.state.checkpoint is not None
    assert snapshot.num_files == 2


def _rows(batch: pa.RecordBatch) -> list[Mapping[str, Any]]:
    rows: list[Mapping[str, Any]] = batch.to_pylist()
    return rows


@by_one_task_and_shuffled
def test_the_full_disk_of_a_task_is_told_and_leaves_nothing(
    spark: "SparkSession", tmp_path: Path, parts: int | None
) -> None:
    from deltaweb.spark.checkpoint import build_checkpoint

    folder = LogBuilder().start(add("a")).on_disk(tmp_path / "table")
    before = names_in(folder)
    source: Any = FullSource(str(folder))

    with pytest.raises(DeltaError) as caught:
        build_checkpoint(spark, source, request_of(parts=parts))

    assert caught.value.code == "storage-full"
    assert str(folder) in str(caught.value)
    assert names_in(folder) == before
