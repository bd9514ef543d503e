"""Tables are indexed without Spark, where none is installed."""

import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

import fsspec
import pytest

from deltaweb.index.folder.result import CANCELLED, FAILED, INDEXED, IndexResult
from deltaweb.spark.run_folder import TaskProgress
from deltaweb.spark.table_tasks import IndexRequest, index_in_process
from deltaweb.storage.place import TablePlace
from tests.support.index.index_folders import open_index
from tests.support.stores.gated_storage import SCHEME, Gate, GatedFileSystem


def request(table: Path | str, folder: Path, most: int | None = None) -> IndexRequest:
    place = TablePlace(str(table))
    return IndexRequest(place=place, folder=str(folder), max_task_bytes=most)


def test_each_table_has_its_own_result(lake: Path, tmp_path: Path) -> None:
    found: dict[int, IndexResult] = {}
    requests = [
        request(lake / "customers", tmp_path / "a"),
        request(lake / "missing", tmp_path / "b"),
        request(lake / "orders", tmp_path / "c", most=10),
    ]

    index_in_process(requests, found.__setitem__, scratch=tmp_path / "runs")

    assert [found[n].state for n in range(3)] == [INDEXED, FAILED, FAILED]
    assert [found[n].error_code for n in range(3)] == [
        "",
        "location-not-found",
        "spark-missing",
    ]
    assert "bytes. This needs Spark" in found[2].error
    assert "deltaweb[spark]" in found[2].error_hint
    assert open_index(tmp_path / "a").folder == tmp_path / "a"
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_large_log_is_left_to_spark_where_there_is_one(lake: Path, tmp_path: Path):
    found: dict[int, IndexResult] = {}
    requests = [
        request(lake / "orders", tmp_path / "a", most=10),
        request(lake / "returns", tmp_path / "b", most=1 << 20),
    ]

    index_in_process(
        requests,
        found.__setitem__,
        scratch=tmp_path / "runs",
        is_spark_there=lambda: False,
    )

    assert {position: result.state for position, result in found.items()} == {
        1: INDEXED
    }


def test_a_slow_table_and_what_comes_after_it_are_left_once_spark_is_there(
    lake: Path, tmp_path: Path
) -> None:
    fsspec.register_implementation(SCHEME, GatedFileSystem, clobber=True)
    shutil.copytree(lake / "returns", tmp_path / "slow")
    gate = Gate.before(tmp_path / "slow")
    found: dict[int, IndexResult] = {}
    tables = (str(lake / "orders"), gate.location, str(lake / "returns"))
    requests = [
        request(table, tmp_path / f"index-{number}", most=1 << 20)
        for number, table in enumerate(tables)
    ]

    index_in_process(
        requests,
        found.__setitem__,
        scratch=tmp_path / "runs",
        is_spark_there=lambda: gate.has_reader,
    )
    gate.open()

    assert list(found) == [0]


def test_a_table_that_is_not_wanted_is_left(lake: Path, tmp_path: Path) -> None:
    found: dict[int, IndexResult] = {}
    (tmp_path / "runs").mkdir()

    def cancel_second(position: int, result: IndexResult) -> None:
        found[position] = result
        (run,) = (tmp_path / "runs").iterdir()
        (run / "1.cancel").touch()

    requests = [request(lake / name, tmp_path / name) for name in ("returns", "orders")]
    index_in_process(requests, cancel_second, scratch=tmp_path / "runs")

    assert [found[0].state, found[1].state] == [INDEXED, CANCELLED]
    assert not (tmp_path / "orders").exists()


def test_what_stops_the_run_is_raised(lake: Path, tmp_path: Path) -> None:
    def stop(_: int, __: IndexResult) -> None:
        raise KeyboardInterrupt

    def look(_: Mapping[int, TaskProgress]) -> Collection[int]:
        return ()

    with pytest.raises(KeyboardInterrupt):
        index_in_process(
            [request(lake / "returns", tmp_path / "a")],
            stop,
            scratch=tmp_path / "runs",
            on_tick=look,
        )
    assert list((tmp_path / "runs").iterdir()) == []
