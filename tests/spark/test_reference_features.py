"""Features of tables that the reference implementation and we both write.

What each of them does is read by the other, and the other goes on from there.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.writing.after_commit import wait_for_checkpoints
from deltaweb.table import DeltaTable
from tests.reference_implementation import Reference
from tests.tracked_rows import known_by

KNOWN = "SELECT k, _metadata.row_id, _metadata.row_commit_version FROM {t}"


def rows(*keys: int, v: str = "a") -> pa.Table:
    return pa.table({"k": pa.array(keys, pa.int32()), "v": [v] * len(keys)})


def known_there(reference: Reference, folder: Path) -> dict[int, Any]:
    found = reference.sql(KNOWN, folder)
    return {key: (row_id, version) for key, row_id, version in found}


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_rows_are_known_by_the_same_to_both(
    reference: Reference, tmp_path: Path, vectors: str
) -> None:
    folder = tmp_path / "table"
    reference.sql(
        "CREATE TABLE {t} (k INT, v STRING) USING delta TBLPROPERTIES"
        f" ('delta.enableRowTracking' = 'true',"
        f" 'delta.enableDeletionVectors' = '{vectors}',"
        " 'delta.checkpointInterval' = '5')",
        folder,
    )
    reference.sql("INSERT INTO {t} VALUES (1, 'a'), (2, 'b'), (3, 'c')", folder)
    table = DeltaTable(str(folder))

    table.append(rows(4, 5, 6))
    table.update({"v": "'new'"}, "k IN (2, 5)")
    table.delete("k = 6")
    merge = table.merge(rows(1, 7, v="m"), on="t.k = s.k")
    merge.when_matched_update().when_not_matched_insert().execute()
    wait_for_checkpoints()
    here = known_by(table)
    assert known_there(reference, folder) == here

    reference.sql("UPDATE {t} SET v = 'theirs' WHERE k = 3", folder)
    reference.sql("INSERT INTO {t} VALUES (8, 'h')", folder)
    there = known_there(reference, folder)
    assert known_by(table) == there
    assert {k: there[k] for k in (1, 2, 4, 5, 7)} == {
        k: here[k] for k in (1, 2, 4, 5, 7)
    }

    table.optimize()
    assert known_there(reference, folder) == there == known_by(table)
    table.restore(version=2)
    assert known_there(reference, folder) == known_by(table)
    assert reference.live_files(folder) == sorted(
        table.snapshot().files["path"].to_pylist()
    )


def test_a_table_of_ours_tracks_rows_there(
    reference: Reference, tmp_path: Path
) -> None:
    folder = tmp_path / "table"
    schema = pa.schema([("k", pa.int32()), ("v", pa.string())])
    table = DeltaTable.create(
        str(folder), schema, properties={"delta.enableRowTracking": "true"}
    )
    table.append(rows(1, 2))

    reference.sql("UPDATE {t} SET v = 'theirs' WHERE k = 2", folder)

    assert known_there(reference, folder) == {1: (0, 1), 2: (1, 2)} == known_by(table)
