"""What tasks have read of many commits is read once, and let go of with the state."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deltaweb.delta.log.paths import commit_name
from deltaweb.table import DeltaTable
from tests.support.logs.delta_logs import add, commit_bytes, metadata, protocol, remove

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from deltaweb.spark.log.replay import ReplayedState


@pytest.fixture(autouse=True)
def _small_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    from deltaweb.spark.log import reader as log_reader

    monkeypatch.setattr(log_reader, "PACK_COMMITS", 2)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of three packs: files by `p`, two of them removed again."""
    folder = tmp_path / "_delta_log"
    folder.mkdir()
    commits = [
        [protocol(), metadata(partitionColumns=["p"])],
        [add("a", partitionValues={"p": "1"}), add("b", partitionValues={"p": "2"})],
        [remove("a"), add("c", partitionValues={"p": "3"})],
        [add("d", partitionValues={"p": None}, stats='{"numRecords":4}')],
        [remove("c", deletionTimestamp=7)],
    ]
    for version, actions in enumerate(commits):
        (folder / commit_name(version)).write_bytes(commit_bytes(*actions))
    return folder


def load(spark: "SparkSession", log: Path) -> "ReplayedState":
    from deltaweb.spark.log.replay import load_state
    from deltaweb.storage.place import TablePlace

    return load_state(spark, TablePlace(str(log.parent)))


def files_of(state: "ReplayedState") -> list[tuple[str, object, object]]:
    return sorted(
        (row["path"], dict(row["partition_values"]), row["stats"])
        for row in state.live_files().collect()
    )


class TestHeldLayers:
    def test_are_read_instead_of_the_log(self, spark: "SparkSession", log: Path):
        state = load(spark, log)
        for commit in log.iterdir():
            commit.unlink()

        assert files_of(state) == [
            ("b", {"p": "2"}, None),
            ("d", {"p": None}, '{"numRecords":4}'),
        ]
        removed = {row["path"] for row in state.tombstones().collect()}
        assert removed == {"a", "c"}
        state.close()

    def test_are_no_more_after_the_state(self, spark: "SparkSession", log: Path):
        state = load(spark, log)
        assert state.layers.held is not None
        folder = Path(state.layers.held.folder)
        assert len(list(folder.iterdir())) == 6

        state.close()

        assert not folder.exists()

    def test_give_way_to_the_log_where_one_is_lost(self, spark, log):
        state = load(spark, log)
        before = files_of(state)
        assert state.layers.held is not None
        for file in Path(state.layers.held.folder).glob("1.*"):
            file.unlink()

        assert files_of(state) == before
        assert {row["path"] for row in state.tombstones().collect()} == {"a", "c"}
        state.close()

    def test_are_dropped_where_the_table_is_partitioned_otherwise_later(
        self, spark: "SparkSession", log: Path
    ) -> None:
        actions = [
            metadata(partitionColumns=["q"]),
            add("e", partitionValues={"q": "5"}),
        ]
        (log / commit_name(5)).write_bytes(commit_bytes(*actions))

        state = load(spark, log)

        assert state.layers.held is None
        here = DeltaTable(str(log.parent)).snapshot().files
        expected = zip(
            here["path"].to_pylist(), here["partition_values"].to_pylist(), strict=True
        )
        found = [(path, values) for path, values, _ in files_of(state)]
        assert found == sorted((path, dict(values)) for path, values in expected)
        state.close()
