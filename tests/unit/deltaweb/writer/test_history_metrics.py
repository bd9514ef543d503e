"""A history carries the metrics and parameters that the reference implementation's has.

Source: the documentation of Delta Lake, "Operation metrics keys".
"""

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from deltaweb.table import DeltaTable
from deltaweb.writer.optimize import size_quantiles
from tests.support.tables.table_builder import ROWS, TableBuilder

FEED = {"delta.enableChangeDataFeed": "true"}
VECTORS = {"delta.enableDeletionVectors": "true"}
TIMES = {"executionTimeMs", "scanTimeMs", "rewriteTimeMs"}
OF_FILES = {
    "numAddedFiles",
    "numAddedBytes",
    "numRemovedFiles",
    "numRemovedBytes",
    "numCopiedRows",
    "numAddedChangeFiles",
    "numDeletionVectorsAdded",
    "numDeletionVectorsRemoved",
    "numDeletionVectorsUpdated",
}
OF_MERGES = {
    "numSourceRows",
    "numOutputRows",
    "numTargetRowsInserted",
    "numTargetRowsUpdated",
    "numTargetRowsDeleted",
    "numTargetRowsCopied",
    "numTargetRowsMatchedUpdated",
    "numTargetRowsMatchedDeleted",
    "numTargetRowsNotMatchedBySourceUpdated",
    "numTargetRowsNotMatchedBySourceDeleted",
    "numTargetFilesAdded",
    "numTargetFilesRemoved",
    "numTargetBytesAdded",
    "numTargetBytesRemoved",
    "numTargetChangeFilesAdded",
    "numTargetDeletionVectorsAdded",
    "numTargetDeletionVectorsRemoved",
    "numTargetDeletionVectorsUpdated",
}
OF_OPTIMIZE = {
    "numAddedFiles",
    "numAddedBytes",
    "numRemovedFiles",
    "numRemovedBytes",
    "numDeletionVectorsRemoved",
    "minFileSize",
    "p25FileSize",
    "p50FileSize",
    "p75FileSize",
    "maxFileSize",
}


def made(**properties: str) -> DeltaTable:
    return TableBuilder().properties(properties).rows(ROWS, ROWS).build()


def info_of(table: DeltaTable) -> dict[str, object]:
    info: dict[str, object] = table.read_commit(table.latest_version())[0]["commitInfo"]
    return info


def metrics_of(table: DeltaTable) -> dict[str, int]:
    told = info_of(table)["operationMetrics"]
    assert isinstance(told, dict)
    return {name: int(value) for name, value in told.items()}


def merge(table: DeltaTable) -> object:
    clauses = table.merge(ROWS.slice(0, 1), on="t.n = s.n")
    return clauses.when_matched_update({"s": "'new'"}).execute()


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda table: table.delete("n = 1"), OF_FILES | TIMES | {"numDeletedRows"}),
        (
            lambda table: table.update({"s": "'x'"}, where="n = 1"),
            OF_FILES | TIMES | {"numUpdatedRows"},
        ),
        (merge, OF_MERGES | TIMES),
        (lambda table: table.optimize(), OF_OPTIMIZE),
    ],
    ids=["delete", "update", "merge", "optimize"],
)
@pytest.mark.parametrize("properties", [{}, VECTORS], ids=["plain", "with vectors"])
def test_an_operation_tells_all_of_them(change, names, properties):
    table = made(**properties)

    change(table)

    assert names <= {*metrics_of(table)}


def test_change_files_and_vectors_are_counted() -> None:
    table = made(**FEED, **VECTORS)

    table.delete("n = 1")
    first = metrics_of(table)
    table.delete("n = 2")
    second = metrics_of(table)
    table.optimize()
    packed = metrics_of(table)
    clauses = table.merge(ROWS.slice(2, 1), on="t.n = s.n")
    clauses.when_matched_update({"s": "'new'"}).execute()
    merged = metrics_of(table)

    assert (first["numAddedChangeFiles"], first["numDeletionVectorsAdded"]) == (1, 2)
    assert first["numDeletionVectorsRemoved"] == first["numAddedFiles"] == 0
    assert second["numDeletionVectorsUpdated"] == second["numDeletionVectorsAdded"] == 2
    assert packed["numDeletionVectorsRemoved"] == 2
    assert merged["numTargetChangeFilesAdded"] == 1


def test_times_are_parts_of_the_whole() -> None:
    table = made()
    table.delete("n = 1")

    told = metrics_of(table)

    parts = told["scanTimeMs"] + told["rewriteTimeMs"]
    assert 0 <= told["executionTimeMs"] - parts <= 2


@pytest.mark.parametrize(
    ("sizes", "quantiles"),
    [([], []), ([7], [7, 7, 7, 7, 7]), ([4, 1, 3, 2], [1, 2, 3, 4, 4])],
)
def test_sizes_of_files_are_told_by_their_quarters(sizes, quantiles):
    assert [*size_quantiles(sizes).values()] == quantiles


class TestParameters:
    def test_of_a_constraint_that_is_dropped_have_its_expression(self) -> None:
        table = made()
        table.add_constraint("Some", "n > 0", upgrade=True)

        table.drop_constraint("SOME")

        assert info_of(table)["operationParameters"] == {
            "name": "SOME",
            "expr": "n > 0",
        }

    def test_of_a_restore_have_the_time_that_was_asked_for(self) -> None:
        table = made()
        when = table.history()[1].timestamp
        table.append(pa.table({"n": [9]}))

        table.restore(timestamp=when)

        assert info_of(table)["operationParameters"] == {
            "version": "1",
            "timestamp": str(when),
        }

    @pytest.mark.parametrize(
        ("change", "level"),
        [
            (lambda table: table.optimize(), "SnapshotIsolation"),
            (
                lambda table: table.vacuum(
                    dry_run=False,
                    record_in_history=True,
                    now=datetime(2000, 1, 1, tzinfo=UTC),
                ),
                "SnapshotIsolation",
            ),
            (lambda table: table.restore(1), "Serializable"),
            (lambda table: table.delete("n = 1"), "WriteSerializable"),
        ],
        ids=["optimize", "vacuum", "restore", "delete"],
    )
    def test_have_the_isolation_beside_them(self, change, level):
        table = made()

        change(table)

        assert info_of(table)["isolationLevel"] == level
