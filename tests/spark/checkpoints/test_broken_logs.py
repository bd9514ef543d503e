"""Both engines refuse the same logs, and pass over the same broken checkpoints."""

import io
from itertools import product
from typing import Any

import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import DeltaError, LogCorruptError
from deltaweb.delta.log.paths import checkpoint_name, commit_name
from tests.spark.checkpoints.both_engines import (
    AS_STRUCT,
    built_by_spark,
    built_here,
    names_in,
    request_of,
)
from tests.spark.checkpoints.failing_stores import VanishingSource
from tests.support import matrix
from tests.support.logs.checkpoint_logs import NOW
from tests.support.logs.delta_logs import (
    LogBuilder,
    add,
    deletion_vector,
    metadata,
    protocol,
)
from tests.support.logs.local_logs import typed_schema

BROKEN = {
    "version": lambda log: log,
    "feature": lambda log: log.commit(2, protocol(1, 7, writerFeatures=["other"])),
    "commit": lambda log: log.raw_commit(1, b'{"add":\n'),
    "gap": lambda log: log.commit(3).delete(commit_name(1)),
    "vector": lambda log: log.commit(2, add("v", deletionVector=deletion_vector("x"))),
    "partition": lambda log: log.commit(
        2,
        metadata(
            partitionColumns=["day"],
            schemaString=typed_schema(day="date"),
            configuration=AS_STRUCT,
        ),
        add("d", partitionValues={"day": "never"}),
    ),
}
PARTS = [None, 2]


class TestARefusal:
    @matrix("kind, parts", product(BROKEN, PARTS))
    def test_is_that_of_the_in_process_engine(self, spark, tmp_path, kind, parts):
        log = LogBuilder().start(add("a")).commit(1, add("b"))
        folder = BROKEN[kind](log).on_disk(tmp_path / "table")
        wanted = request_of(9 if kind == "version" else None, parts=parts)
        before = names_in(folder)

        with pytest.raises(DeltaError) as here:
            built_here(folder, wanted)
        with pytest.raises(DeltaError) as there:
            built_by_spark(spark, folder, wanted)

        assert type(there.value) is type(here.value)
        assert str(there.value) == str(here.value)
        assert names_in(folder) == before

    @pytest.mark.parametrize("parts", [0, 257])
    def test_of_numbers_comes_before_any_work(self, spark, tmp_path, parts):
        with pytest.raises(ValueError, match="part"):
            built_by_spark(spark, tmp_path, request_of(parts=parts))


class TestABrokenCheckpoint:
    @matrix("leaf, parts", product(["", "add.path"], PARTS))
    def test_is_passed_over_for_the_commits(self, spark, tmp_path, parts, leaf):
        log = LogBuilder().start(add("a")).commit(1, add("b"))
        log.table.create_checkpoint(0, now=NOW)
        log.store.put(checkpoint_name(0), _spoilt(log, leaf))
        folder = log.on_disk(tmp_path / "table")

        written = built_by_spark(spark, folder, request_of(parts=parts))

        assert (written.version, written.num_files) == (1, 2)
        assert written.is_last


class TestACommitThatVanishes:
    @matrix("parts", PARTS, often=[2])
    def test_leaves_no_checkpoint_without_its_files(self, spark, tmp_path, parts):
        from deltaweb.spark.checkpoint import build_checkpoint

        log = LogBuilder().start(add("a"))
        for version in range(1, 5):
            log.commit(version, add(str(version)))
        folder = log.on_disk(tmp_path / "table")
        source: Any = VanishingSource(str(folder), (commit_name(1), commit_name(2)))

        with pytest.raises(LogCorruptError, match=r"1\.json.*disappeared"):
            build_checkpoint(spark, source, request_of(parts=parts))

        assert names_in(folder) == {commit_name(version) for version in (0, 3, 4)}


def _spoilt(log: LogBuilder, leaf: str) -> bytes:
    """A checkpoint whose footer is torn, or whose values of a leaf are."""
    data = bytearray(log.store.read(checkpoint_name(0)))
    if not leaf:
        return bytes(data[:-6])
    footer = pq.read_metadata(io.BytesIO(data))
    for group in range(footer.num_row_groups):
        for column in range(footer.num_columns):
            chunk = footer.row_group(group).column(column)
            if chunk.path_in_schema == leaf:
                start = chunk.dictionary_page_offset or chunk.data_page_offset
                data[start : start + chunk.total_compressed_size] = (
                    b"\xff" * chunk.total_compressed_size
                )
    return bytes(data)
