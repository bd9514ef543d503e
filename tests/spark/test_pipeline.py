"""One Spark job indexes many tables; each tells its own story."""

import json
import shutil
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deltaweb.index.folder.result import IndexResult
from deltaweb.storage.place import TablePlace
from tests.support.index.index_builds import build_index
from tests.support.index.index_folders import open_index
from tests.support.processes.installation import wait_for
from tests.support.stores.gated_storage import Gate

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from pyspark.sql import SparkSession

    from deltaweb.spark.run_folder import TaskProgress
    from deltaweb.spark.table_tasks import IndexRequest

    Look = Callable[[Mapping[int, TaskProgress]], Collection[int] | None]

LIMIT_S = 120  # that a run may take on a busy machine
TABLES = ("orders", "device_readings", "customers", "returns")


class Ticks:
    """Looks at progress, and ends a run that does not come to its end."""

    def __init__(self, look: "Look | None" = None) -> None:
        self._look = look
        self._ends_at_s = time.monotonic() + LIMIT_S

    def __call__(self, progress: "Mapping[int, TaskProgress]") -> "Collection[int]":
        if time.monotonic() > self._ends_at_s:
            raise TimeoutError
        cancelled = None if self._look is None else self._look(progress)
        return cancelled or ()


@pytest.fixture(autouse=True)
def _open_gates(tmp_path: Path) -> "Iterator[None]":
    """Let tasks through that a test left waiting."""
    yield
    for marker in tmp_path.rglob("*.gate"):
        Gate(marker.with_suffix("")).open()


def gated_copy(table: Path, folder: Path, name: str = "t", *, kills: str = "") -> Gate:
    """Copy a table's log to behind a gate."""
    copy = folder / "gated" / name
    shutil.copytree(table / "_delta_log", copy / "_delta_log")
    return Gate.before(copy, kills=kills)


def requests(folder: Path, *locations: Path | str) -> "list[IndexRequest]":
    from deltaweb.spark.table_tasks import IndexRequest

    return [
        IndexRequest(
            place=TablePlace(str(place)), folder=str(folder / "index" / str(number))
        )
        for number, place in enumerate(locations)
    ]


def index_all(spark, folder, *locations, on_tick=None):
    return index_requests(spark, folder, requests(folder, *locations), on_tick=on_tick)


def index_requests(spark, folder, wanted, on_tick=None):
    from deltaweb.spark.pipeline import index_tables

    results: dict[int, IndexResult] = {}
    index_tables(
        spark, wanted, results.__setitem__, scratch=folder / "runs", on_tick=on_tick
    )
    return results


class TestIndexTables:
    def test_gives_what_the_in_process_engine_gives(self, spark, lake, tmp_path):
        results = index_all(spark, tmp_path, *(lake / name for name in TABLES))

        for number, name in enumerate(TABLES):
            here = build_index(str(lake / name), None, tmp_path / "here" / name)
            there = results[number]
            assert there.to_json() | {"folder": ""} == here.to_json() | {"folder": ""}
            assert open_index(there.folder).files.equals(open_index(here.folder).files)

    def test_is_not_failed_by_a_broken_table_among_good_ones(
        self, spark: "SparkSession", lake: Path, tmp_path: Path
    ) -> None:
        broken = tmp_path / "broken" / "_delta_log"
        broken.mkdir(parents=True)
        (broken / f"{0:020d}.json").write_text("{torn")

        results = index_all(
            spark, tmp_path, lake / "orders", broken.parent, lake / "returns"
        )

        assert [results[number].state for number in range(3)] == [
            "INDEXED",
            "FAILED",
            "INDEXED",
        ]
        assert results[1].error_code == "log-corrupt"
        assert results[1].error_hint

    def test_hands_on_results_while_others_are_being_made(self, spark, lake, tmp_path):
        from deltaweb.spark.pipeline import index_tables

        slow = gated_copy(lake / "orders", tmp_path)
        arrived: list[int] = []
        threads: set[threading.Thread] = set()

        def on_result(position: int, _result: IndexResult) -> None:
            arrived.append(position)
            threads.add(threading.current_thread())
            if len(arrived) == 20:
                slow.open()

        index_tables(
            spark,
            requests(tmp_path, slow.location, *[lake / "returns"] * 20),
            on_result,
            scratch=tmp_path / "runs",
            on_tick=Ticks(),
        )

        assert arrived[-1] == 0
        assert sorted(arrived) == list(range(21))
        assert threads == {threading.current_thread()}

    def test_tells_how_far_each_table_is(self, spark, lake, tmp_path):
        slow = gated_copy(lake / "orders", tmp_path)
        told: list[TaskProgress] = []

        def look(progress: "Mapping[int, TaskProgress]") -> None:
            if 1 in progress:
                told.append(progress[1])
                slow.open()

        results = index_all(
            spark, tmp_path, lake / "returns", slow.location, on_tick=Ticks(look)
        )

        assert told[0].step == "Reading the newest snapshot"
        assert results[1].state == "INDEXED"

    def test_leaves_no_file_behind(self, spark, lake, tmp_path):
        index_all(spark, tmp_path, lake / "returns")

        assert list((tmp_path / "runs").iterdir()) == []

    def test_cancels_the_job_when_a_callback_fails(self, spark, lake, tmp_path):
        slow = [gated_copy(lake / "orders", tmp_path, str(n)) for n in range(2)]

        def look(progress: "Mapping[int, TaskProgress]") -> None:
            if len(progress) == len(slow):  # the session has no third thread
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            index_all(
                spark,
                tmp_path,
                *[gate.location for gate in slow],
                *[lake / "returns"] * 10,
                on_tick=Ticks(look),
            )

        tracker = spark.sparkContext.statusTracker()
        assert wait_for(lambda: not tracker.getActiveJobsIds(), timeout_s=LIMIT_S)
        assert not (tmp_path / "index").exists()

    def test_cancels_tables_and_goes_on_with_the_others(self, spark, lake, tmp_path):
        from deltaweb.spark.run_folder import REPORT_INTERVAL_S

        begun = [gated_copy(lake / "orders", tmp_path, str(n)) for n in range(2)]
        last = 9
        cancelled_s: list[float] = []

        def look(progress: "Mapping[int, TaskProgress]") -> list[int]:
            if len(progress) < len(begun):
                return []
            cancelled_s.append(time.monotonic())
            if cancelled_s[-1] - cancelled_s[0] > 2 * REPORT_INTERVAL_S:
                for gate in begun:  # now that their next report looks for a cancel
                    gate.open()
            return [1, last]

        results = index_all(
            spark,
            tmp_path,
            *[gate.location for gate in begun],
            *[lake / "returns"] * (last - 1),
            on_tick=Ticks(look),
        )

        cancelled = {n for n, result in results.items() if result.state == "CANCELLED"}
        assert cancelled == {1, last}
        indexed = {int(place.name) for place in (tmp_path / "index").iterdir()}
        assert indexed == set(range(last + 1)) - cancelled

    def test_goes_on_with_small_tables_when_a_large_one_is_cancelled(
        self, spark: "SparkSession", lake: Path, tmp_path: Path
    ) -> None:
        slow = gated_copy(lake / "orders", tmp_path)
        asked: list[int] = []

        def look(_: object) -> list[int]:
            is_found_large = bool([*(tmp_path / "runs").glob("*/claims-*/1")]) and not [
                *(tmp_path / "runs").glob("*/1.result.json")
            ]
            if slow.has_reader and is_found_large:
                asked.append(1)
            if len(asked) > 6:  # times that the tasks of others could be stopped
                slow.open()
            return [1]

        small, large = requests(tmp_path, slow.location, lake / "returns")
        results = index_requests(
            spark,
            tmp_path,
            [small, replace(large, max_task_bytes=0)],
            on_tick=Ticks(look),
        )

        assert {n: result.state for n, result in results.items()} == {
            0: "INDEXED",
            1: "CANCELLED",
        }

    def test_does_no_table_again_that_is_done(self, spark, lake, tmp_path):
        from deltaweb.spark.pipeline import index_tables
        from deltaweb.spark.table_tasks import LARGE

        slow = gated_copy(lake / "orders", tmp_path)
        results: dict[int, IndexResult] = {}
        made: list[int] = []

        def on_result(position: int, result: IndexResult) -> None:
            results[position] = result
            if position == 0:  # what a task says that was given up long ago
                made.append((tmp_path / "index" / "0").stat().st_ino)
                (run,) = (tmp_path / "runs").iterdir()
                (run / "0.result.json").write_text(json.dumps(LARGE))

        def look(_: object) -> None:
            if made and not [*(tmp_path / "runs").glob("*/0.result.json")]:
                slow.open()

        wanted = requests(tmp_path, lake / "returns", slow.location)
        scratch = tmp_path / "runs"
        index_tables(spark, wanted, on_result, scratch=scratch, on_tick=Ticks(look))

        assert [results[n].state for n in range(2)] == ["INDEXED"] * 2
        assert made == [(tmp_path / "index" / "0").stat().st_ino]

    def test_survives_a_python_worker_that_goes_down(self, spark, lake, tmp_path):
        deadly = gated_copy(lake / "orders", tmp_path, kills="once")

        results = index_all(
            spark, tmp_path, *[lake / "returns"] * 6, deadly.location, lake / "orders"
        )

        assert deadly.has_reader
        assert [results[n].state for n in range(8)] == ["INDEXED"] * 8

    def test_fails_a_table_alone_that_takes_its_python_worker_down(
        self, spark: "SparkSession", lake: Path, tmp_path: Path
    ) -> None:
        deadly = gated_copy(lake / "orders", tmp_path, kills="always")

        results = index_all(
            spark, tmp_path, deadly.location, *[lake / "returns"] * 6, lake / "orders"
        )

        assert [results[n].state for n in range(8)] == ["FAILED"] + ["INDEXED"] * 7
        assert results[0].error_code == "internal-error"
        assert "ended without a result" in results[0].error
