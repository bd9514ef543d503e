"""Checkpoints of one log as both engines build them, and how they are compared."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from deltaweb.delta.writing.checkpoint import builder
from deltaweb.delta.writing.checkpoint.builder import (
    CheckpointRequest,
    WrittenCheckpoint,
)
from deltaweb.table import DeltaTable
from tests.support.logs.checkpoint_logs import NOW

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HINT = "_last_checkpoint"
AS_STRUCT = {
    "delta.checkpoint.writeStatsAsStruct": "true",
    "delta.checkpoint.writeStatsAsJson": "false",
}


def request_of(version: int | None = None, **wanted: Any) -> CheckpointRequest:  # noqa: ANN401 (its fields)
    """What to build, at a moment that tests share."""
    return CheckpointRequest(now=NOW, version=version, **wanted)


def built_here(folder: Path, request: CheckpointRequest) -> WrittenCheckpoint:
    """Build a checkpoint in this process."""
    return builder.build_checkpoint(DeltaTable(str(folder)).store, request)


def built_by_spark(
    spark: "SparkSession", folder: Path, request: CheckpointRequest
) -> WrittenCheckpoint:
    """Build a checkpoint in the tasks of Spark."""
    from deltaweb.spark.checkpoint import build_checkpoint
    from deltaweb.storage.place import TablePlace

    return build_checkpoint(spark, TablePlace(str(folder)), request)


def parts_of(folder: Path, names: Sequence[str]) -> list[Any]:
    """The schema of each part, and its rows in no order."""
    tables = [pq.read_table(folder / "_delta_log" / name) for name in names]
    return [(t.schema, Counter(map(repr, t.to_pylist()))) for t in tables]


def hint_of(folder: Path) -> dict[str, Any]:
    """The document that names the last checkpoint."""
    hint: dict[str, Any] = json.loads((folder / "_delta_log" / HINT).read_bytes())
    return hint


def names_in(folder: Path) -> set[str]:
    """The names of all files of the log, hidden ones too."""
    return {path.name for path in (folder / "_delta_log").iterdir()}


def assert_same(
    here: Path, there: Path, one: WrittenCheckpoint, other: WrittenCheckpoint
) -> None:
    """Compare the checkpoints of two copies of a log."""
    assert parts_of(there, other.names) == parts_of(here, one.names)
    facts = ("version", "names", "num_actions", "num_files", "num_tombstones")
    for fact in (*facts, "is_last"):
        assert getattr(other, fact) == getattr(one, fact)
    sizes = [(there / "_delta_log" / n).stat().st_size for n in other.names]
    assert other.size_bytes == sum(sizes)
    hints = [hint_of(folder) for folder in (here, there)]
    for hint in hints:
        del hint["sizeInBytes"]  # row groups begin elsewhere
    assert hints[0] == hints[1]
    assert names_in(here) == names_in(there)
