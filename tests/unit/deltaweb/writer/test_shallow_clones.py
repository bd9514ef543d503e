"""Tables whose files are another table's: read where that one's root is allowed."""

from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.delta.errors import PathEscapesTableError
from deltaweb.storage.place import open_store
from deltaweb.table import DeltaTable
from tests.support.logs.shallow_clones import NUMBERS, shallow_clone, source_table


@pytest.fixture
def source(tmp_path: Path) -> DeltaTable:
    return source_table(tmp_path / "source")


@pytest.fixture
def clone(source: DeltaTable, tmp_path: Path) -> Path:
    return shallow_clone(source, tmp_path / "clone")


def opened(clone: Path, *roots: str) -> DeltaTable:
    return DeltaTable.from_store(open_store(str(clone), allowed_roots=roots))


def numbers(table: DeltaTable) -> list[int]:
    return sorted(table.snapshot().read()["n"].to_pylist())


def test_rows_are_read_where_the_root_is_allowed(source: DeltaTable, clone: Path):
    assert numbers(opened(clone, source.root)) == NUMBERS


@pytest.mark.parametrize("root", ["/elsewhere", "{source}x", "{source}/below"])
def test_a_file_outside_of_what_is_allowed_is_named(source, clone, root):
    table = opened(clone, root.format(source=source.root))

    assert table.snapshot().num_files == 2
    with pytest.raises(PathEscapesTableError, match="source/part-"):
        table.snapshot().read()


def test_rows_are_changed_and_the_source_stays(source: DeltaTable, clone: Path) -> None:
    table = opened(clone, source.root)
    table.append(pa.table({"n": [5]}))

    table.update({"n": "n * 10"}, "n = 1")
    table.delete("n = 4")
    table.optimize()

    assert numbers(table) == [2, 3, 5, 10]
    assert numbers(source) == NUMBERS
    places = [p for some in table.store.list_data_files() for p in some.to_pylist()]
    live = table.snapshot().files["path"].to_pylist()
    assert {*live} < {*places}


def test_a_vacuum_takes_no_file_of_the_source(source: DeltaTable, clone: Path) -> None:
    table = opened(clone, source.root)
    table.delete("n < 10")

    table.vacuum(0, dry_run=False, allow_short_retention=True)

    assert numbers(source) == NUMBERS
