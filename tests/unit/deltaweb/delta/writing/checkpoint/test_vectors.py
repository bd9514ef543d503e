"""Checkpoints keep deletion vectors whole, and tell the files of a path by them."""

import pytest

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.paths import commit_name
from tests.support.logs.appendix_log import NOW, NOW_MS
from tests.support.logs.delta_logs import (
    LogBuilder,
    add,
    deletion_vector,
    protocol,
    remove,
)

FEATURES = ["deletionVectors"]
WITH_VECTORS = protocol(3, 7, readerFeatures=FEATURES, writerFeatures=FEATURES)
FIRST, SECOND = deletion_vector("v", 1), deletion_vector("v", 43)


def started() -> LogBuilder:
    return LogBuilder().start(WITH_VECTORS, add("a"), add("b", deletionVector=FIRST))


def without(log: LogBuilder, end: int) -> None:
    """Delete the commits below a version, which a checkpoint stands for."""
    for version in range(end):
        log.delete(commit_name(version))


def facts(log: LogBuilder):
    snapshot = log.table.snapshot()
    files = snapshot.files.to_pylist()
    gone = snapshot.tombstones.to_pylist()
    return (
        sorted((row["path"], str(row["deletion_vector"])) for row in files),
        sorted(((row["path"], row["dv_id"]) for row in gone), key=str),
    )


def test_a_checkpoint_holds_what_the_commits_do() -> None:
    log = started()
    before = facts(log)

    log.table.create_checkpoint(now=NOW)
    without(log, 1)

    assert facts(log) == before
    [file] = [f for f in log.table.snapshot().files.to_pylist() if f["path"] == "b"]
    assert file["dv_id"] == "uv@1"
    assert file["deletion_vector"]["sizeInBytes"] == 1
    assert file["deletion_vector"]["cardinality"] == 1


@pytest.mark.parametrize("between", [None, 1, 2])
def test_tombstones_of_a_path_are_told_apart_by_their_vectors(between: int | None):
    log = started()
    log.commit(1, remove("a", deletionTimestamp=NOW_MS), add("a", deletionVector=FIRST))
    if between == 1:
        log.table.create_checkpoint(now=NOW)
    log.commit(
        2,
        remove("a", deletionTimestamp=NOW_MS, deletionVector=FIRST),
        add("a", deletionVector=SECOND),
    )
    if between == 2:
        log.table.create_checkpoint(now=NOW)
    log.commit(3, add("c"))
    before = facts(log)
    assert before[1] == [("a", "uv@1"), ("a", None)]

    log.table.create_checkpoint(now=NOW)
    without(log, 3)

    assert facts(log) == before


def test_an_offset_beyond_its_type_is_named() -> None:
    log = started().commit(1, add("c", deletionVector=deletion_vector("v", 2**40)))

    with pytest.raises(LogCorruptError, match="does not fit into an int"):
        log.table.create_checkpoint(now=NOW)
