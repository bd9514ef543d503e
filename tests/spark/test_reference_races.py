"""Writers of ours that the reference implementation overtakes.

What they commit after it, it reads as it reads its own.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.delta.writing.errors import CommitConflictError
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.peers.reference_implementation import Reference
from tests.support.stores.overtaken import Overtaken

pytestmark = pytest.mark.exhaustive  # every run has test_reference_in_turn
Write = Callable[[DeltaTable], object]
MORE = pa.table({"n": pa.array([9], pa.int64()), "s": ["nine"]})
INSERT = "INSERT INTO {t} VALUES "
COLUMN = "ALTER TABLE {t} ADD COLUMN more INT"
RULE = "ALTER TABLE {t} ADD CONSTRAINT low CHECK (n < 5)"
SET = "ALTER TABLE {{t}} SET TBLPROPERTIES ('{}')"
PROPERTY = SET.format("team' = 'blue")
VECTORS = SET.format("delta.enableDeletionVectors' = 'true")
FEATURE = SET.format("delta.feature.typeWidening' = 'supported")
VERSION = SET.format("delta.minWriterVersion' = '4")
ROW_IDS = SET.format("delta.feature.rowTracking' = 'supported")
OWN_TIMES = SET.format("delta.enableInCommitTimestamps' = 'true")


@pytest.fixture(scope="module")
def original(reference: Reference, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files of the reference, which no test changes."""
    folder = tmp_path_factory.mktemp("original") / "table"
    reference.sql(
        "CREATE TABLE {t} (n BIGINT, s STRING) USING delta"
        " TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')",
        folder,
    )
    for row in ("(1, 's')", "(2, 's')"):
        reference.sql(INSERT + row, folder)
    return folder


@pytest.fixture
def table(original: Path, tmp_path: Path) -> DeltaTable:
    folder = tmp_path / "table"
    shutil.copytree(original, folder)
    return DeltaTable.from_store(Overtaken(str(folder)))


def optimize(table: DeltaTable) -> object:
    return table.optimize()


def append(table: DeltaTable) -> object:
    return table.append(MORE)


def delete(table: DeltaTable) -> object:
    return table.delete("n = 1")


FOLLOWED = {
    "an optimize": (optimize, [VERSION, COLUMN, RULE, PROPERTY, VECTORS], [1, 2]),
    "an append": (append, [PROPERTY, VECTORS, FEATURE], [1, 2, 9]),
    "a delete": (delete, [FEATURE], [2]),
}


@cases("write, rivals, numbers", FOLLOWED)
def test_follow_what_they_satisfy(reference, table, write, rivals, numbers):
    folder = Path(table.root)

    def overtake() -> None:
        for statement in rivals:
            reference.sql(statement, folder)

    assert isinstance(table.store, Overtaken)
    table.store.rival = overtake

    write(table)

    rows = reference.sql("SELECT n FROM {t} ORDER BY n", folder)
    assert [number for (number,) in rows] == numbers
    assert reference.live_files(folder) == sorted(
        table.snapshot().files["path"].to_pylist()
    )


@pytest.mark.parametrize(
    ("write", "rival"), [(append, RULE), (append, ROW_IDS), (optimize, OWN_TIMES)]
)
def test_are_lost_to_what_they_were_not_written_for(reference, table, write, rival):
    folder = Path(table.root)
    assert isinstance(table.store, Overtaken)
    table.store.rival = lambda: reference.sql(rival, folder)

    with pytest.raises(CommitConflictError):
        write(table)
