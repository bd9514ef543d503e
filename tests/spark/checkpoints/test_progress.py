"""The caller that waits for a checkpoint learns how far it is, and may stop it."""

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deltaweb.delta.errors import CheckpointCancelledError
from tests.spark.checkpoints.both_engines import names_in, request_of
from tests.spark.checkpoints.failing_stores import WaitingSource
from tests.support import matrix
from tests.support.logs.delta_logs import LogBuilder, add

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tasks end by themselves, however slow this machine is."""
    from deltaweb.spark import job

    monkeypatch.setattr(job, "STOPS_WITHIN_S", 120)


@matrix("parts, is_begun", product([None, 2], [False, True]))
def test_work_that_nobody_wants_leaves_nothing(spark, tmp_path, parts, *, is_begun):
    folder = LogBuilder().start(add("a")).on_disk(tmp_path / "table")
    before = names_in(folder)
    answers = iter([False] * is_begun)

    with pytest.raises(CheckpointCancelledError):
        build(
            spark,
            folder,
            tmp_path,
            parts=parts,
            is_cancelled=lambda: next(answers, True),
        )

    assert names_in(folder) == before


@matrix("parts", [None, 2], often=[2])
def test_a_caller_that_raises_stops_the_work_and_leaves_nothing(spark, tmp_path, parts):
    folder = LogBuilder().start(add("a")).on_disk(tmp_path / "table")
    before = names_in(folder)
    answers = iter([False])

    def stop() -> bool:
        return next(answers)

    with pytest.raises(StopIteration):
        build(spark, folder, tmp_path, parts=parts, is_cancelled=stop)

    assert names_in(folder) == before


def test_progress_is_that_of_the_task_and_never_goes_back(spark, tmp_path):
    """Reports of a first attempt are in the folder before the task writes its own."""
    from deltaweb.spark.run_folder import RunFolder, TaskProgress

    folder = LogBuilder().start(add("a")).on_disk(tmp_path / "table")
    reports = [TaskProgress("", done, 20, "actions") for done in (5, 12, 3)]
    heard: list[tuple[int, int]] = []

    def is_cancelled() -> bool:
        for run in (tmp_path / "scratch").glob("run-*"):
            if reports:
                RunFolder(run).report_progress(0, reports.pop(0))
            return len(heard) == 4
        return False

    with pytest.raises(CheckpointCancelledError):
        build(
            spark,
            folder,
            tmp_path,
            is_cancelled=is_cancelled,
            on_progress=lambda *pair: heard.append(pair),
        )

    assert heard == [(5, 20), (12, 20), (12, 20), (12, 20)]


def build(
    spark: "SparkSession",
    folder: Path,
    home: Path,
    **wanted: Any,  # noqa: ANN401 (fields of a request)
) -> None:
    """Build a checkpoint by a task that writes once it is asked to stop."""
    from deltaweb.spark.checkpoint import build_checkpoint

    scratch = home / "scratch"
    source: Any = WaitingSource(str(folder), scratch)
    build_checkpoint(spark, source, request_of(**wanted), scratch=scratch)
