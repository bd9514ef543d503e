"""Tables that say by which columns their files are laid out."""

import json
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.errors import DeltaError, PredicateError
from deltaweb.delta.log.paths import commit_name
from deltaweb.table import DeltaTable
from tests.support.logs.delta_logs import Action, LogBuilder, metadata, protocol
from tests.support.stores.memory import MemoryTableStore

FEATURES = ["clustering", "domainMetadata"]
SCHEMA = {
    "type": "struct",
    "fields": [
        {"name": name, "type": "integer", "nullable": True, "metadata": {}}
        for name in ("a", "b", "c")
    ],
}


def clustered(*columns, store=None, has_vectors=False):
    """A table of a, b and c whose first column alone would get statistics."""
    domain: Action = {
        "domain": "delta.clustering",
        "configuration": json.dumps({"clusteringColumns": columns}),
        "removed": False,
    }
    configuration = {
        "delta.dataSkippingNumIndexedCols": "1",
        "delta.enableDeletionVectors": str(has_vectors).lower(),
    }
    builder = LogBuilder(store).commit(
        0,
        protocol(
            3,
            7,
            readerFeatures=["deletionVectors"],
            writerFeatures=[*FEATURES, "deletionVectors"],
        ),
        metadata(schemaString=json.dumps(SCHEMA), configuration=configuration),
        {"domainMetadata": domain},
    )
    return builder.table


def rows(*values: tuple[int, int, int]) -> pa.Table:
    columns = [pa.array(column, pa.int32()) for column in zip(*values, strict=True)]
    return pa.table(columns, ["a", "b", "c"])


def added(table: DeltaTable, version: int) -> list[dict[str, Any]]:
    lines = table.store.read(commit_name(version)).splitlines()
    return [json.loads(line)["add"] for line in lines if line.startswith(b'{"add"')]


def test_clustering_columns_get_statistics() -> None:
    table = clustered(["c"])

    table.append(rows((1, 2, 3)))

    (file,) = added(table, 1)
    assert json.loads(file["stats"])["minValues"] == {"a": 1, "c": 3}
    assert "clusteringProvider" not in file


def test_rows_are_changed_and_taken_away() -> None:
    table = clustered(["c"])
    table.append(rows((1, 2, 3), (4, 5, 6)))

    table.update({"b": "0"}, "a = 1")
    table.delete("a = 4")

    assert table.snapshot().read().to_pylist() == [{"a": 1, "b": 0, "c": 3}]


def test_the_columns_outlive_a_checkpoint() -> None:
    store = MemoryTableStore()
    table = clustered(["c"], store=store)
    table.append(rows((1, 2, 3)))
    table.create_checkpoint()
    store.delete(commit_name(0))

    table.append(rows((1, 2, 3)))

    (file,) = added(table, 2)
    assert json.loads(file["stats"])["minValues"] == {"a": 1, "c": 3}


def test_an_optimization_lays_rows_out_by_the_columns() -> None:
    table = clustered(["c"])
    for value in (3, 1, 2):
        table.append(rows((0, 0, value)))

    table.optimize()

    (file,) = added(table, 4)
    assert file["clusteringProvider"] == "deltaweb"
    assert table.snapshot().read(["c"])["c"].to_pylist() == [1, 2, 3]
    info = table.history(1)[0]
    assert info.parameters["clusterBy"] == '["c"]'


def test_what_is_clustered_is_not_clustered_again() -> None:
    table = clustered(["c"])
    table.append(rows((0, 0, 1)))
    first = table.optimize()
    assert first.num_added_files == 1

    assert table.optimize().num_added_files == 0

    table.append(rows((0, 0, 2)))
    assert table.optimize().num_removed_files == 2


def test_files_that_others_have_clustered_are_left_to_them() -> None:
    store = MemoryTableStore()
    table = clustered(["c"], store=store)
    table.append(rows((0, 0, 1)))
    data = store.read(commit_name(1))
    theirs = data.replace(b'{"add":{', b'{"add":{"clusteringProvider":"liquid",')
    store.put(commit_name(1), theirs)
    table.append(rows((0, 0, 2)))
    table.append(rows((0, 0, 3)))

    assert table.optimize().num_removed_files == 2


def test_a_file_that_is_marked_stays_with_who_laid_it_out() -> None:
    table = clustered(["c"], has_vectors=True)
    table.append(rows((1, 0, 1), (2, 0, 2)))
    table.optimize()

    result = table.delete("a = 1")

    assert result.version is not None
    (file,) = added(table, result.version)
    assert file["deletionVector"]
    assert file["clusteringProvider"] == "deltaweb"


def test_other_columns_are_not_laid_out_by() -> None:
    table = clustered(["c"])
    table.append(rows((1, 2, 3)))

    with pytest.raises(PredicateError, match="clustered by c"):
        table.optimize(cluster_by=["a"])


def test_a_column_that_is_clustered_by_stays() -> None:
    table = clustered(["c"])
    table.append(rows((1, 2, 3)))
    other = pa.table({"a": pa.array([1], pa.int32())})

    with pytest.raises(DeltaError, match="column c, which would be gone"):
        table.overwrite(other, overwrite_schema=True)


def test_a_table_without_the_columns_is_optimized_as_any() -> None:
    table = clustered()
    table.append(rows((0, 0, 2)))
    table.append(rows((0, 0, 1)))

    table.optimize()

    (file,) = added(table, 3)
    assert "clusteringProvider" not in file
