"""The index of a large table is the one that a task would make of it."""

from pathlib import Path
from typing import TYPE_CHECKING

import fsspec
import pytest

from deltaweb.delta.log.paths import commit_name
from deltaweb.index.folder.file_index import COMMITS, METADATA, PROTOCOLS, open_files
from deltaweb.index.folder.result import IndexResult
from deltaweb.storage.place import TablePlace
from tests.support import matrix
from tests.support.index.index_builds import build_index
from tests.support.index.index_folders import commit_rows, open_index
from tests.support.logs.delta_logs import (
    Action,
    add,
    checkpoint_bytes,
    commit_bytes,
    deletion_vector,
    metadata,
    protocol,
    remove,
    schema_string,
)
from tests.support.stores.gated_storage import SCHEME, Gate, GatedFileSystem
from tests.support.tables.span_table import write_span_table

if TYPE_CHECKING:
    from collections.abc import Collection

    from pyspark.sql import SparkSession

TABLES = ["orders", "device_readings", "customers", "returns"]
NOW_MS = 1_800_000_000_000


def index_large(spark, location, home, *, max_task_bytes=0, base=""):
    from deltaweb.spark.pipeline import IndexRequest, index_tables

    results: dict[int, IndexResult] = {}
    request = IndexRequest(
        place=TablePlace(str(location)),
        folder=str(home / "there"),
        max_task_bytes=max_task_bytes,
        base=base,
    )

    index_tables(spark, [request], results.__setitem__, scratch=home / "runs")
    return results[0]


def assert_same_index(spark: "SparkSession", location: Path, home: Path) -> IndexResult:
    there = index_large(spark, location, home)
    here = build_index(str(location), None, home / "here")

    assert there.to_json() | {"folder": ""} == here.to_json() | {"folder": ""}
    one, other = open_index(home / "there"), open_index(home / "here")
    assert one.files.equals(other.files)
    for name in (COMMITS, METADATA, PROTOCOLS):
        assert commit_rows(one.folder, name) == commit_rows(other.folder, name)
    names = [sorted(path.name for path in at.folder.iterdir()) for at in (one, other)]
    assert names[0] == names[1]
    if (one.folder / "source.json").exists():
        texts = [(at.folder / "source.json").read_text() for at in (one, other)]
        assert texts[0] == texts[1]
    return there


def write_log(folder: Path, *commits: list[Action]) -> Path:
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    for version, actions in enumerate(commits):
        (log / commit_name(version)).write_bytes(commit_bytes(*actions))
    return folder


OPENING = [
    protocol(),
    metadata(partitionColumns=["p"], schemaString=schema_string("id", "p")),
]


class TestALargeTable:
    @matrix("name", TABLES, often=["orders", "device_readings"])
    def test_has_the_index_that_a_small_one_has(self, spark, lake, tmp_path, name):
        result = assert_same_index(spark, lake / name, tmp_path)

        assert result.state == "INDEXED"

    def test_with_a_history_in_many_shares_has_it_in_order(
        self,
        spark: "SparkSession",
        lake: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("deltaweb.index.history.pool.COMMITS_A_SHARE", 2)
        monkeypatch.setattr("deltaweb.spark.index_files.SHARES_A_CORE", 1)

        assert_same_index(spark, lake / "orders", tmp_path)

    def test_with_values_of_another_type_keeps_texts(self, spark, tmp_path):
        schema = schema_string("id", "p").replace('"string"', '"integer"')
        opening = [protocol(), metadata(partitionColumns=["p"], schemaString=schema)]
        table = write_log(
            tmp_path / "table",
            [*opening, add("a", partitionValues={"p": "7"})],
            [add("b", partitionValues={"p": "seven"})],
        )

        assert_same_index(spark, table, tmp_path)

    @pytest.mark.parametrize("is_partitioned", [False, True])
    def test_with_a_column_of_a_type_that_is_not_known_is_indexed(
        self, spark: "SparkSession", tmp_path: Path, *, is_partitioned: bool
    ) -> None:
        location = write_span_table(tmp_path / "t", is_partitioned=is_partitioned)

        assert assert_same_index(spark, location, tmp_path).state == "INDEXED"

    def test_with_deletion_vectors_holds_them(self, spark, tmp_path):
        vector = deletion_vector("v", 1)
        table = write_log(
            tmp_path / "table", [*OPENING, add("a", deletionVector=vector)]
        )

        assert_same_index(spark, table, tmp_path)
        files = open_files(tmp_path / "there")
        assert files["deletion_vector"].to_pylist()[0]["cardinality"] == 1

    def test_without_any_file_is_indexed(self, spark: "SparkSession", tmp_path: Path):
        table = write_log(tmp_path / "table", [*OPENING, add("a")], [remove("a")])

        assert assert_same_index(spark, table, tmp_path).num_files == 0

    def test_that_asks_for_a_newer_reader_has_its_history(self, spark, tmp_path):
        table = write_log(tmp_path / "table", [*OPENING, add("a")], [protocol(99, 99)])

        assert assert_same_index(spark, table, tmp_path).state == "UNSUPPORTED"

    def test_with_a_broken_end_is_indexed_before_it(self, spark, tmp_path):
        table = write_log(tmp_path / "table", [*OPENING, add("a")], [add("b")])
        (table / "_delta_log" / commit_name(2)).write_bytes(b"{torn")

        result = assert_same_index(spark, table, tmp_path)

        assert (result.version, result.is_broken) == (1, True)

    def test_that_begins_at_a_checkpoint_is_indexed(self, spark, tmp_path):
        table = write_log(tmp_path / "table", OPENING, [add("a")], [add("b")])
        log = table / "_delta_log"
        actions = [*OPENING, add("a"), remove("gone")]
        (log / f"{1:020d}.checkpoint.parquet").write_bytes(checkpoint_bytes(actions))
        for version in (0, 1):
            (log / commit_name(version)).unlink()

        assert_same_index(spark, table, tmp_path)

    def test_can_be_cancelled(self, spark: "SparkSession", tmp_path: Path) -> None:
        from deltaweb.spark.pipeline import IndexRequest, index_tables

        fsspec.register_implementation(SCHEME, GatedFileSystem, clobber=True)
        gate = Gate.before(write_log(tmp_path / "table", OPENING, [add("a")]))
        request = IndexRequest(
            place=TablePlace(gate.location),
            folder=str(tmp_path / "there"),
            max_task_bytes=0,
        )
        results: dict[int, IndexResult] = {}

        def on_tick(_progress: object) -> "Collection[int]":
            if is_told:
                gate.open()  # its next report looks for a cancel
            elif gate.has_reader:
                is_told.append(True)
            return [0] if is_told else []

        is_told: list[bool] = []
        index_tables(
            spark,
            [request],
            results.__setitem__,
            scratch=tmp_path / "runs",
            on_tick=on_tick,
        )

        assert results[0].state == "CANCELLED"
        assert [*(tmp_path / "runs").iterdir()] == []
        assert not (tmp_path / "there").exists()


class TestALargeTableWithAnIndex:
    @pytest.fixture
    def table(self, tmp_path: Path) -> Path:
        """Three versions whose log is more than a task may read, with an index."""
        files = [add(f"part-{number}") for number in range(20)]
        table = write_log(tmp_path / "table", [*OPENING, *files], [add("b")], [])
        build_index(str(table), None, tmp_path / "base")
        return table

    def test_is_gone_on_from_in_a_task(self, spark, table, tmp_path):
        commit(table, 1, raw=b"{torn")  # whoever reads the whole log says so
        new = commit(table, 3, remove("part-3"), add("c"))

        result = self.index(spark, table, tmp_path, max_task_bytes=len(new))

        assert (result.state, result.version) == ("INDEXED", 3)
        assert (result.num_files, result.is_broken) == (21, False)

    def test_is_replayed_where_that_would_be_wrong(self, spark, table, tmp_path):
        parameters = {"specifiedRetentionMillis": "0"}
        info = {"operation": "VACUUM START", "operationParameters": parameters}
        new = commit(table, 3, {"commitInfo": info})

        result = self.index(spark, table, tmp_path, max_task_bytes=len(new))

        here = build_index(str(table), None, tmp_path / "here")
        assert result.to_json() | {"folder": ""} == here.to_json() | {"folder": ""}
        one, other = (open_index(tmp_path / name) for name in ("there", "here"))
        assert one.files.equals(other.files)

    def index(self, spark, table, home, *, max_task_bytes):
        base = str(home / "base")
        return index_large(spark, table, home, max_task_bytes=max_task_bytes, base=base)


def commit(table: Path, version: int, *actions: Action, raw: bytes = b"") -> bytes:
    """Write a commit, and return its bytes."""
    data = raw or commit_bytes(*actions)
    (table / "_delta_log" / commit_name(version)).write_bytes(data)
    return data
