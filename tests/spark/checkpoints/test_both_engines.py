"""Checkpoints by Spark are those of the in-process engine, part for part."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.spark.checkpoints.both_engines import (
    AS_STRUCT,
    assert_same,
    built_by_spark,
    built_here,
    request_of,
)
from tests.support.logs.checkpoint_logs import NOW, commits
from tests.support.logs.delta_logs import LogBuilder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class TestACheckpoint:
    def test_is_the_same_in_both_engines(self, spark: "SparkSession") -> None:
        @settings(max_examples=5, database=None)
        @given(
            history=st.one_of(commits(), commits(configuration=AS_STRUCT)),
            older=st.sampled_from([None, None, 1, 2]),
            wanted=st.sampled_from([{}, {"parts": 3}, {"rows_per_part": 2}]),
            data=st.data(),
        )
        def compare(history, older, wanted, data):
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
