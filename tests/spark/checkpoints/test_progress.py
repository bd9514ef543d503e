"""Whoever waits for a checkpoint is told how far it is, and may stop it."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deltaweb.delta.errors import CheckpointCancelledError
from deltaweb.storage.local import LocalTableStore
from tests.delta_logs import LogBuilder, add
from tests.spark.checkpoints.both_engines import built_by_spark, names_in, request_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


class TestProgress:
    @pytest.fixture(autouse=True)
    def _patience(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let tasks end by themselves, however slow this machine is."""
        from deltaweb.spark import checkpoint_progress

        monkeypatch.setattr(checkpoint_progress, "STOPS_WITHIN_S", 120)

    @pytest.mark.parametrize("parts", [None, 2])
    def test_that_raises_stops_the_work_and_leaves_nothing(
        self, spark: "SparkSession", tmp_path: Path, parts: int | None
    ) -> None:
        folder = LogBuilder().start(add("a")).on_disk(tmp_path / "table")
        before = names_in(folder)

        def stop() -> bool:
            raise KeyboardInterrupt

        wanted = request_of(parts=parts, is_cancelled=stop)
        with pytest.raises(KeyboardInterrupt):
            built_by_spark(spark, folder, wanted)

        assert names_in(folder) == before

    @pytest.mark.parametrize("parts", [None, 2])
    @pytest.mark.parametrize("looks", [0, 1])
    def test_work_that_nobody_wants_leaves_nothing(
        self, spark: "SparkSession", tmp_path: Path, parts: int | None, looks: int
    ) -> None:
        folder = LogBuilder().start(add("a")).on_disk(tmp_path / "table")
        before = names_in(folder)
        answers: Iterator[bool] = iter([False] * looks)
        wanted = request_of(parts=parts, is_cancelled=lambda: next(answers, True))

        with pytest.raises(CheckpointCancelledError):
            built_by_spark(spark, folder, wanted)

        assert names_in(folder) == before


class TestProgressWatch:
    def test_adds_up_what_tasks_tell_and_never_goes_back(self, tmp_path: Path) -> None:
        from deltaweb.spark.checkpoint_progress import ProgressWatch, TaskProgress

        told: list[tuple[int, int]] = []
        wanted = request_of(on_progress=lambda *pair: told.append(pair))
        watch = ProgressWatch(tmp_path, wanted, _never)
        tasks = [TaskProgress(str(tmp_path), f"read-{n}") for n in range(2)]

        watch(0, None)
        tasks[0].tell(5, 20)
        tasks[1].tell(7, 20)
        watch(0, None)
        TaskProgress(str(tmp_path), "read-1").tell(1, 20)  # another attempt
        watch(0, None)
        tasks[0].tell(30, 20)
        watch(0, None)

        assert told == [(12, 20), (12, 20), (20, 20)]

    def test_asks_tasks_to_stop_before_spark_does(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from deltaweb.spark import checkpoint_progress
        from deltaweb.spark.checkpoint_progress import ProgressWatch, TaskProgress

        task = TaskProgress(str(tmp_path), "write")
        store = LocalTableStore(str(tmp_path))
        watch = ProgressWatch(tmp_path, request_of(is_cancelled=lambda: True), _never)
        task.check(store, 3)

        watch(0, None)
        watch(0, None)

        assert watch.error is not None
        with pytest.raises(CheckpointCancelledError, match="3"):
            task.check(store, 3)
        monkeypatch.setattr(checkpoint_progress, "STOPS_WITHIN_S", -1)
        late = ProgressWatch(tmp_path, request_of(is_cancelled=lambda: True), _never)
        late(0, None)
        with pytest.raises(CheckpointCancelledError):
            late(0, None)

    def test_tells_nothing_where_the_folder_is_not_seen(self, tmp_path: Path) -> None:
        from deltaweb.spark.checkpoint_progress import TaskProgress

        task = TaskProgress(str(tmp_path / "none"), "write")

        task.tell(1, 2)

        assert not task.is_cancelled()


def _never() -> CheckpointCancelledError:
    return CheckpointCancelledError(root="table", version=3)
