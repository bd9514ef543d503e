"""Which versions need files that a read has missed, by the log alone."""

from pathlib import Path
from uuid import UUID

import pytest

from deltaweb.index.lacking_versions import lacking_versions
from deltaweb.storage.local import LocalTableStore
from deltaweb.table import DeltaTable
from tests.support.tables.versioned_table import VersionedTable
from tests.unit.deltaweb.index.test_file_check import ROWS, SCHEMA, masked


@pytest.fixture
def written(tmp_path: Path) -> VersionedTable:
    """Versions 0 to 3 of the files a; a b; b; b c."""
    table = VersionedTable(LocalTableStore(str(tmp_path / "orders")))
    table.commit(metadata=table.define(SCHEMA), add={"a": ROWS})
    table.commit(add={"b": ROWS})
    table.commit(remove=["a"])
    table.commit(add={"c": ROWS})
    return table


def lacking(written: VersionedTable, *names: str):
    """First and last version, files, missing ones, and the name of one of them."""
    root = Path(written.store.root)
    paths = [path.name for name in names for path in root.glob(f"{name}-*.parquet")]
    return [
        (
            *(run.first_version, run.last_version, run.num_files, run.num_missing),
            run.path[:1],
        )
        for run in lacking_versions(DeltaTable(str(root)), paths)
    ]


def test_a_file_is_needed_from_its_add_to_its_remove(written: VersionedTable) -> None:
    assert lacking(written, "a") == [(0, 0, 1, 1, "a"), (1, 1, 2, 1, "a")]
    assert lacking(written, "b") == [
        (1, 1, 2, 1, "b"),
        (2, 2, 1, 1, "b"),
        (3, 3, 2, 1, "b"),
    ]


def test_files_are_counted_together_and_one_is_named(written: VersionedTable) -> None:
    assert lacking(written, "a", "b") == [
        (0, 0, 1, 1, "a"),
        (1, 1, 2, 2, "a"),
        (2, 2, 1, 1, "b"),
        (3, 3, 2, 1, "b"),
    ]


def test_neighbours_that_lack_alike_are_one_run(written: VersionedTable) -> None:
    for _ in range(3):
        written.commit()

    assert lacking(written, "c") == [(3, 6, 2, 1, "c")]


def test_a_file_that_no_version_had_is_needed_by_none(written: VersionedTable) -> None:
    assert lacking_versions(DeltaTable(written.store.root), ["nothing.parquet"]) == []


def test_a_deletion_vector_is_needed_by_the_versions_that_have_it(tmp_path: Path):
    vector = masked(tmp_path / "t", str(UUID(int=7)), offset=None)

    (run,) = lacking_versions(DeltaTable(str(tmp_path / "t")), [vector.name])

    assert (run.first_version, run.last_version, run.num_missing) == (2, 2, 1)
