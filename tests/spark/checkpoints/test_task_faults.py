"""Tasks that die, run twice or meet a full disk leave a whole checkpoint or none."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import deltalake
import pytest

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.paths import checkpoint_name
from deltaweb.table import DeltaTable
from tests.spark.checkpoints.both_engines import (
    assert_same,
    built_here,
    names_in,
    request_of,
)
from tests.spark.checkpoints.failing_stores import DyingSource, FullSource
from tests.support import matrix
from tests.support.logs.delta_logs import LogBuilder, add, remove

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTS = [None, 2]


@matrix("parts", PARTS, often=[2])
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


def test_a_task_whose_process_is_killed_each_time_fails_the_work(spark, tmp_path):
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


@matrix("parts", PARTS, often=[2])
def test_the_full_disk_of_a_task_is_told_and_leaves_nothing(spark, tmp_path, parts):
    from deltaweb.spark.checkpoint import build_checkpoint

    folder = LogBuilder().start(add("a")).on_disk(tmp_path / "table")
    before = names_in(folder)
    source: Any = FullSource(str(folder))

    with pytest.raises(DeltaError) as caught:
        build_checkpoint(spark, source, request_of(parts=parts))

    assert caught.value.code == "storage-full"
    assert str(folder) in str(caught.value)
    assert names_in(folder) == before
