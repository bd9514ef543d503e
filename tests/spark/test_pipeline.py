"""One Spark job indexes many tables; each tells its own story."""

import contextlib
import os
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deltaweb.index.build import build_index
from deltaweb.index.file_index import open_index
from deltaweb.index.index_result import IndexResult

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from pyspark.sql import SparkSession

    from deltaweb.spark.pipeline import IndexRequest, TaskProgress

TABLES = ("orders", "device_readings", "customers", "returns")


def requests(folder: Path, *locations: Path) -> "list[IndexRequest]":
    from deltaweb.spark.pipeline import IndexRequest

    return [
        IndexRequest(location=str(place), folder=str(folder / "index" / str(number)))
        for number, place in enumerate(locations)
    ]


def index_all(
    spark: "SparkSession",
    folder: Path,
    *locations: Path,
    on_tick: "Callable[[Mapping[int, TaskProgress]], Collection[int]] | None" = None,
) -> dict[int, IndexResult]:
    from deltaweb.spark.pipeline import index_tables

    results: dict[int, IndexResult] = {}
    index_tables(
        spark,
        requests(folder, *locations),
        results.__setitem__,
        scratch=folder / "runs",
        on_tick=on_tick,
    )
    return results


class TestIndexTables:
    def test_gives_what_the_in_process_engine_gives(
        self, spark: "SparkSession", lake: Path, tmp_path: Path
    ) -> None:
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

    def test_hands_on_results_while_others_are_being_made(
        self, spark: "SparkSession", lake: Path, tmp_path: Path
    ) -> None:
        from deltaweb.spark.pipeline import index_tables

        threads: list[threading.Thread] = []
        arrived: list[tuple[int, bool]] = []
        locations = [lake / TABLES[number % 4] for number in range(24)]

        def on_result(position: int, _result: IndexResult) -> None:
            threads.append(threading.current_thread())
            done = len(list((tmp_path / "index").iterdir()))
            arrived.append((position, done < len(locations)))

        index_tables(
            spark, requests(tmp_path, *locations), on_result, scratch=tmp_path / "runs"
        )

        assert sorted(position for position, _ in arrived) == list(range(24))
        assert arrived[0][1]
        assert set(threads) == {threading.current_thread()}

    def test_tells_how_far_each_table_is(
        self, spark: "SparkSession", lake: Path, tmp_path: Path
    ) -> None:
        told: list[TaskProgress] = []

        def on_tick(progress: "Mapping[int, TaskProgress]") -> list[int]:
            told.extend(progress.values())
            return []

        locations = [lake / "customers"] * 16
        index_all(spark, tmp_path, *locations, on_tick=on_tick)

        assert "Reading the newest snapshot" in {progress.step for progress in told}

    def test_leaves_no_file_behind(
        self, spark: "SparkSession", lake: Path, tmp_path: Path
    ) -> None:
        index_all(spark, tmp_path, lake / "returns")

        assert list((tmp_path / "runs").iterdir()) == []

    def test_cancels_the_job_when_a_callback_fails(
        self, spark: "SparkSession", lake: Path, tmp_path: Path
    ) -> None:
        def on_tick(_progress: object) -> list[int]:
            raise KeyboardInterrupt

        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            index_all(spark, tmp_path, *[lake / "customers"] * 60, on_tick=on_tick)

        assert time.monotonic() - started < 20
        assert spark.sparkContext.statusTracker().getActiveJobsIds() == []
        assert len(list((tmp_path / "index").glob("[0-9]*"))) < 60

    def test_cancels_one_table_and_goes_on_with_the_others(
        self, spark: "SparkSession", lake: Path, tmp_path: Path
    ) -> None:
        last = 19

        results = index_all(
            spark,
            tmp_path,
            *[lake / "customers"] * (last + 1),
            on_tick=lambda _progress: [last],
        )

        states = [results[number].state for number in range(last + 1)]
        assert states == ["INDEXED"] * last + ["CANCELLED"]
        assert not (tmp_path / "index" / str(last)).exists()

    def test_survives_a_table_that_takes_its_python_worker_down(
        self, spark: "SparkSession", lake: Path, tmp_path: Path
    ) -> None:
        killer = threading.Thread(
            target=_kill_python_workers, args=(spark, tmp_path / "index")
        )
        killer.start()

        results = index_all(spark, tmp_path, *[lake / "customers"] * 12)

        killer.join()
        assert {result.state for result in results.values()} == {"INDEXED"}
        assert len(results) == 12


def _kill_python_workers(spark: "SparkSession", index: Path) -> None:
    """Kill Spark's Python workers once, in the middle of a job."""
    deadline = time.monotonic() + 30
    while not index.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    gateway = spark.sparkContext._gateway  # noqa: SLF001 (no public way)
    assert gateway is not None
    for pid in _children(gateway.proc.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    found = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in children.read_text().split():
                found += [int(child), *_children(int(child))]
    return found
