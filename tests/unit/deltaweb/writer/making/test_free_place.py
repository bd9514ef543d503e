"""A place that a killed write has left is free; one with anybody's files is not."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.writing.errors import LocationTakenError
from deltaweb.table import DeltaTable
from deltaweb.writer.importing.plan import Import, begin_import
from deltaweb.writer.importing.source_file import SourceFiles
from deltaweb.writer.making import free_place
from deltaweb.writer.making.free_place import check_empty
from tests.support.stores.memory import MemoryTableStore

ROWS = "n,p\n1,a\n2,b\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "t"


@pytest.fixture
def asked(tmp_path: Path) -> Import:
    file = tmp_path / "rows.csv"
    file.write_text(ROWS)
    paths = [str(file)]
    return Import(files=SourceFiles(paths=paths, names=paths), partition_by=["p"])


def left_behind(place: Path, asked: Import) -> list[str]:
    """Import, and take the log away: what a kill before the commit leaves."""
    begin_import(DeltaTable(str(place)).store, asked).carry_out()
    for entry in (place / "_delta_log").iterdir():
        entry.unlink()
    return data_files(place)


def data_files(place: Path) -> list[str]:
    return sorted(str(path.relative_to(place)) for path in place.rglob("*.parquet"))


def test_the_next_import_makes_the_table_and_touches_nothing(place, asked):
    left = left_behind(place, asked)
    (place / "_delta_log/.00000000000000000000.json.abcdefgh.tmp").write_text("{")
    unfinished = f".{Path(left[0]).name}.abcdefgh.tmp"
    (place / "p=a" / unfinished).write_bytes(b"PAR1")

    assert begin_import(DeltaTable(str(place)).store, asked).look().rows.num_rows == 2
    result, _ = begin_import(DeltaTable(str(place)).store, asked).carry_out()

    table = DeltaTable(str(place))
    assert result.version == 0
    assert sorted(table.snapshot().read(["n"])["n"].to_pylist()) == [1, 2]
    assert set(left) < set(data_files(place))
    later = datetime.now(UTC) + timedelta(hours=1)
    gone = table.vacuum(0, allow_short_retention=True, now=later).files["place"]
    assert sorted(gone.to_pylist()) == sorted([*left, f"p=a/{unfinished}"])


def test_an_empty_table_is_made_there_as_well(place: Path, asked: Import) -> None:
    left_behind(place, asked)

    table = DeltaTable.create(str(place), pa.schema([("n", pa.int64())]))

    assert table.snapshot().num_files == 0


@pytest.mark.parametrize(
    "name",
    [
        "part-00000-11111111-2222-3333-4444-555555555555.c000.snappy.parquet",
        "part-00000-11111111-2222-3333-4444-555555555555-c000.snappy.parquet",
        "rows.parquet",
        "p=a/.hidden.tmp",
        "notes.txt",
    ],
)
def test_a_file_of_others_keeps_the_place_and_is_named(place, asked, name):
    left_behind(place, asked)
    pq.write_table(pa.table({"n": [7]}), place / name)

    with pytest.raises(LocationTakenError, match=Path(name).name) as caught:
        begin_import(DeltaTable(str(place)).store, asked).look()
    assert "convert" in caught.value.hint


def test_what_reads_as_no_parquet_keeps_the_place(place: Path, asked: Import) -> None:
    (first, *_) = left_behind(place, asked)
    (place / first).write_bytes(b"PAR1 and no more")

    with pytest.raises(LocationTakenError, match="there are files"):
        DeltaTable.create(str(place), pa.schema([("n", pa.int64())]))


def test_more_files_than_are_looked_into_keep_the_place(monkeypatch):
    monkeypatch.setattr(free_place, "MAX_LEFTOVERS", 1)
    store = MemoryTableStore()
    name = "part-00000-11111111-2222-3333-4444-55555555555{}.c000.snappy.parquet"
    for number in range(2):
        store.put_data_file(f".{name.format(number)}.abcdefgh.tmp", b"")

    with pytest.raises(LocationTakenError, match="more than 1 file"):
        check_empty(store)
