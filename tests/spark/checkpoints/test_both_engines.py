"""Checkpoints by Spark are those of the in-process engine, part for part."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.checkpoint_logs import NOW, OLDEST_KEPT_MS, commits
from tests.delta_logs import Action, LogBuilder, add, metadata, remove
from tests.spark.checkpoints.both_engines import (
    AS_STRUCT,
    assert_same,
    built_by_spark,
    built_here,
    request_of,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(
    params=[
        (0, 4_096, 1 << 28, 1 << 27, 5),
        (0, 1, 0, 400, 5),
        (1 << 10, 4_096, 1 << 28, 1 << 27, 5),
    ],
    ids=["one pack", "a pack a commit, and small buckets", "one task"],
)
def max_examples(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> int:
    """Take each way that the size of a log can call for; return examples to run."""
    from deltaweb.spark import checkpoint, log_reader

    cores, commits_a_pack, alone_bytes, bucket_bytes, max_examples = request.param
    monkeypatch.setattr(checkpoint, "SHUFFLED_FROM_CORES", cores)
    monkeypatch.setattr(log_reader, "PACK_COMMITS", commits_a_pack)
    monkeypatch.setattr(checkpoint, "ALONE_BYTES", alone_bytes)
    monkeypatch.setattr(checkpoint, "BUCKET_BYTES", bucket_bytes)
    return int(max_examples)


class TestACheckpoint:
    def test_is_the_same_in_both_engines(
        self, spark: "SparkSession", max_examples: int
    ) -> None:
        @settings(max_examples=max_examples, database=None)
        @given(
            history=st.one_of(commits(), commits(configuration=AS_STRUCT)),
            older=st.sampled_from([None, None, 1, 2]),
            wanted=st.sampled_from([{}, {"parts": 1}, {"parts": 3}]),
            data=st.data(),
        )
        def compare(
            history: list[list[Action]],
            older: int | None,
            wanted: dict[str, int],
            data: st.DataObject,
        ) -> None:
            log = LogBuilder()
            for version, actions in enumerate(history):
                log.commit(version, *actions)
            version = data.draw(st.integers(0, len(history) - 1))
            if older is not None:
                first = data.draw(st.integers(0, version))
                log.table.create_checkpoint(first, parts=older, now=NOW)
            with tempfile.TemporaryDirectory() as home:
                here, there = (log.on_disk(Path(home) / side) for side in "ab")
                one = built_here(here, request_of(version, **wanted))
                other = built_by_spark(spark, there, request_of(version, **wanted))
                assert_same(here, there, one, other)

        compare()

    @pytest.mark.parametrize("rows_per_part", [1, 7, 100])
    def test_has_as_many_parts_by_rows_in_both_engines(
        self, spark: "SparkSession", tmp_path: Path, rows_per_part: int
    ) -> None:
        log = LogBuilder().start(*(add(f"f{n}") for n in range(9)))
        log.table.create_checkpoint(now=NOW)
        log.commit(1, remove("f1"), add("g")).commit(2, add("g", size=5))
        here, there = (log.on_disk(tmp_path / side) for side in "ab")
        wanted = request_of(rows_per_part=rows_per_part)

        one, other = built_here(here, wanted), built_by_spark(spark, there, wanted)

        assert_same(here, there, one, other)
        assert len(one.names) == -(-(11 + 3) // rows_per_part)

    @pytest.mark.parametrize(
        "cores", [0, 1 << 10], ids=["shuffled", "by one task"], indirect=True
    )
    def test_of_a_table_without_files_has_all_its_parts(
        self, spark: "SparkSession", tmp_path: Path
    ) -> None:
        here, there = (LogBuilder().start().on_disk(tmp_path / side) for side in "ab")
        wanted = request_of(parts=3)

        one, other = built_here(here, wanted), built_by_spark(spark, there, wanted)

        assert_same(here, there, one, other)
        assert len(other.names) == 3

    def test_of_a_table_that_is_partitioned_anew_keeps_what_was_removed(
        self, spark: "SparkSession", tmp_path: Path
    ) -> None:
        values = {"p": "x"}
        log = LogBuilder().start(
            add("a", partitionValues=values), partitionColumns=["p"]
        )
        log.table.create_checkpoint(now=NOW)
        gone = remove("a", partitionValues=values, deletionTimestamp=OLDEST_KEPT_MS)
        log.commit(1, metadata(partitionColumns=["id"]), gone, add("b"))
        here, there = (log.on_disk(tmp_path / side) for side in "ab")
        wanted = request_of(parts=2)

        one, other = built_here(here, wanted), built_by_spark(spark, there, wanted)

        assert_same(here, there, one, other)
        assert one.num_tombstones == 1
