"""A vacuum takes no file of another table, and none that is live by another name."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from deltaweb.delta.writing.errors import InsideTableError
from deltaweb.table import DeltaTable
from tests.support.files.aged_files import age
from tests.support.stores.memory import MemoryTableStore
from tests.support.tables.table_builder import ROWS, SCHEMA, TableBuilder

LATER = datetime.now(UTC) + timedelta(days=30)
COMMIT = f"{0:020d}.json"


@pytest.fixture
def outer(tmp_path: Path) -> DeltaTable:
    return TableBuilder(tmp_path / "outer").rows(ROWS).build()


def files_of(table: DeltaTable) -> list[Path]:
    return [
        Path(table.root, path) for path in table.snapshot().files["path"].to_pylist()
    ]


def nested(outer: DeltaTable, tmp_path: Path) -> DeltaTable:
    """A table that lies in the folder of another one, as others make them."""
    inner = TableBuilder(tmp_path / "inner").rows(ROWS).build()
    place = Path(outer.root, "below", "inner")
    place.parent.mkdir()
    Path(inner.root).rename(place)
    return DeltaTable(str(place))


def test_a_table_below_keeps_its_files(outer: DeltaTable, tmp_path: Path) -> None:
    inner = nested(outer, tmp_path)
    orphan = Path(outer.root, "below", "orphan.parquet")
    orphan.write_bytes(b"")

    plan = outer.vacuum(dry_run=False, now=LATER)

    assert plan.files["place"].to_pylist() == ["below/orphan.parquet"]
    assert inner.snapshot().read().num_rows == 3


def test_what_the_outer_log_removed_stays_where_another_table_has_it(tmp_path: Path):
    outer = TableBuilder(tmp_path / "t").partitioned_by("p").rows(ROWS).build()
    inner_log = Path(outer.root, "p=x", "_delta_log")
    inner_log.mkdir()
    (inner_log / COMMIT).write_text("{}")
    outer.overwrite(ROWS.slice(0, 0))

    plan = outer.vacuum(now=LATER)

    (place,) = plan.files["place"].to_pylist()
    assert place.startswith("p=y/")


def test_a_store_without_folders_tells_tables_below_as_well() -> None:
    store = MemoryTableStore()
    table = TableBuilder(store).build()
    for place in (f"b/_delta_log/{COMMIT}", "b/part-1.parquet", "c/part-1.parquet"):
        store.put_data_file(place, b"")

    plan = table.vacuum(now=LATER)

    assert plan.files["place"].to_pylist() == ["c/part-1.parquet"]


class TestALink:
    def test_to_a_folder_keeps_what_the_log_names_through_it(self, tmp_path: Path):
        table = TableBuilder(tmp_path / "t").partitioned_by("p").rows(ROWS).build()
        folder = Path(table.root, "p=x")
        folder.rename(folder.with_name("moved"))
        folder.symlink_to("moved")

        plan = table.vacuum(dry_run=False, now=LATER)

        assert plan.files.num_rows == 0
        assert table.snapshot().read().num_rows == 3

    def test_that_nobody_names_takes_no_file_with_it(self, outer: DeltaTable) -> None:
        (live,) = files_of(outer)
        kept = live.parent / "kept"
        kept.mkdir()
        other = kept / "other.parquet"
        other.write_bytes(b"")
        age(other, days=30)
        live.parent.joinpath("again").symlink_to(".")
        live.parent.joinpath("other").symlink_to("kept")

        plan = outer.vacuum(dry_run=False, now=LATER)

        assert plan.files["place"].to_pylist() == ["kept/other.parquet"]
        assert outer.snapshot().read().num_rows == 3

    def test_to_a_file_keeps_the_file(self, outer: DeltaTable) -> None:
        (live,) = files_of(outer)
        real = live.with_name("real.parquet")
        live.rename(real)
        live.symlink_to(real.name)

        plan = outer.vacuum(dry_run=False, now=LATER)

        assert plan.files.num_rows == 0
        assert outer.snapshot().read().num_rows == 3


class TestBelowATable:
    def test_none_is_made(self, outer: DeltaTable) -> None:
        place = f"{outer.root}/a/b"

        with pytest.raises(InsideTableError) as caught:
            DeltaTable.create(place, SCHEMA)

        assert caught.value.outer == outer.root
        assert outer.root in caught.value.message

    def test_none_is_converted(self, outer: DeltaTable, tmp_path: Path) -> None:
        other = TableBuilder(tmp_path / "other").rows(ROWS).build()
        (file,) = files_of(other)
        place = Path(outer.root, "folder")
        place.mkdir()
        file.rename(place / file.name)

        with pytest.raises(InsideTableError):
            DeltaTable.convert(str(place))

        assert not (place / "_delta_log").exists()

    def test_none_is_made_through_a_link(self, outer: DeltaTable, tmp_path: Path):
        (tmp_path / "link").symlink_to(outer.root)

        with pytest.raises(InsideTableError):
            DeltaTable.create(f"{tmp_path}/link/a", SCHEMA)

    def test_one_may_be_made_beside_a_folder_that_is_no_log(self, tmp_path: Path):
        (tmp_path / "_delta_log").mkdir()

        table = TableBuilder(tmp_path / "t").columns(n="long").build()

        assert table.latest_version() == 0
