"""One listing of storage tells which files of which versions are left."""

from functools import partial
from pathlib import Path
from uuid import UUID

import pyarrow as pa
import pytest

from deltaweb.delta.deletion_vectors.z85 import encode_z85
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.index.file_check import check_files
from deltaweb.index.history import reader as history_reader
from deltaweb.index.history.reader import RunActions
from deltaweb.storage.local import LocalTableStore
from deltaweb.table import DeltaTable
from tests.support.logs.roaring_bitmaps import inline_vector
from tests.support.logs.spelled_partitions import append_spelled
from tests.support.tables.fed_table import FedTable, numbers
from tests.support.tables.table_builder import TableBuilder
from tests.support.tables.versioned_table import VersionedTable

SCHEMA = StructType((StructField("id", PrimitiveType("long")),))
ROWS = [{"id": 1}]
SCHEMA_OF_PARTS = pa.schema([("p", pa.int32()), ("n", pa.int64())])


@pytest.fixture
def written(tmp_path: Path) -> VersionedTable:
    """Versions 0 to 3 of the files a; a b; b; b c."""
    table = VersionedTable(LocalTableStore(str(tmp_path / "orders")))
    table.commit(metadata=table.define(SCHEMA), add={"a": ROWS})
    table.commit(add={"b": ROWS})
    table.commit(remove=["a"])
    table.commit(add={"c": ROWS})
    return table


def lose(written: VersionedTable, *names: str) -> None:
    for name in names:
        for path in Path(written.store.root).glob(f"{name}-*.parquet"):
            path.unlink()


def masked(folder: Path, name: str, *, offset: int | None) -> Path:
    """Write a file with a deletion vector in a file; return where that is.

    Version 1 has the file without it, and version 2 with it.
    """
    fed = FedTable({"n": "long"})
    vector = {
        "storageType": "u",
        "pathOrInlineDv": encode_z85(UUID(name).bytes),
        "sizeInBytes": 34,
        "cardinality": 1,
    }
    vector |= {} if offset is None else {"offset": offset}
    fed.commit(fed.add("a", numbers(1, 2)))
    fed.commit(fed.remove("a"), fed.add("a", deletionVector=vector))
    place = fed.on_disk(folder) / f"deletion_vector_{name}.bin"
    place.write_bytes(b"1")
    return place


class TestFilesWithDeletionVectors:
    @pytest.mark.parametrize("offset", [None, 1])
    def test_are_missing_where_the_vector_is(self, tmp_path: Path, offset: int | None):
        vector = masked(tmp_path / "t", str(UUID(int=7)), offset=offset)
        table = DeltaTable(str(tmp_path / "t"))
        assert check_files(table).num_missing == 0
        vector.unlink()

        check = check_files(table)

        assert check.num_missing == 1
        assert [tuple(row.values()) for row in check.missing.to_pylist()] == [
            (2, 2, 1, 1, None)
        ]

    def test_are_there_where_the_log_holds_the_vector(self, tmp_path: Path) -> None:
        fed = FedTable({"n": "long"})
        fed.commit(fed.add("a", numbers(1, 2), deletionVector=inline_vector([0])))

        check = check_files(DeltaTable(str(fed.on_disk(tmp_path / "t"))))

        assert (check.num_paths, check.num_missing) == (1, 0)


class TestCheckFiles:
    def test_finds_nothing_missing_where_all_is_there(self, written: VersionedTable):
        check = check_files(written.table)

        assert (check.first_version, check.version, check.num_versions) == (0, 3, 4)
        assert (check.num_paths, check.num_missing) == (3, 0)
        assert check.missing.num_rows == 0

    def test_tells_how_the_newest_version_spells_its_values(self) -> None:
        table = TableBuilder().columns(SCHEMA_OF_PARTS).partitioned_by("p").build()
        for number, text in enumerate(["7", "07", "7"]):
            rows = pa.table({"p": [7], "n": [number]}, SCHEMA_OF_PARTS)
            append_spelled(table, rows, p=text)

        (told,) = check_files(table).spelled

        assert (told.column, told.num_ours, told.num_others) == ("p", 2, 1)

    def test_counts_for_each_version_what_it_lacks(self, written: VersionedTable):
        lose(written, "b")

        check = check_files(written.table)

        assert check.num_missing == 1
        assert [tuple(row.values()) for row in check.missing.to_pylist()] == [
            (1, 1, 2, 1, None),
            (2, 2, 1, 1, None),
            (3, 3, 2, 1, None),
        ]

    def test_joins_versions_that_lack_as_many(self, written: VersionedTable) -> None:
        written.commit(operation="OPTIMIZE")
        lose(written, "a", "b", "c")

        last = check_files(written.table).missing.to_pylist()[-1]

        assert (last["first_version"], last["last_version"]) == (3, 4)
        assert (last["num_files"], last["num_missing"]) == (2, 2)

    def test_reports_how_far_it_is(self, written: VersionedTable) -> None:
        steps: list[tuple[str, int]] = []

        check_files(
            written.table, report=lambda step, done, *_: steps.append((step, done))
        )

        assert ("Replaying the log", 4) in steps
        assert ("Listing storage", 3) in steps

    def test_looks_by_itself_at_a_file_that_is_elsewhere(self, written, tmp_path):
        root = Path(written.store.root)
        (data,) = root.glob("a-*.parquet")
        elsewhere = tmp_path / "elsewhere" / data.name
        log = root / "_delta_log" / f"{0:020d}.json"
        log.write_text(log.read_text().replace(data.name, str(elsewhere)))
        allowed = DeltaTable(str(root), allowed_roots=[str(elsewhere.parent)])
        assert check_files(allowed).num_missing == 1

        elsewhere.parent.mkdir()
        data.rename(elsewhere)

        assert check_files(allowed).num_missing == 0

    def test_checks_the_newest_version_of_a_history_too_long_to_follow(
        self, written: VersionedTable, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        lose(written, "c")
        monkeypatch.setattr(history_reader, "RunActions", partial(RunActions, limit=1))

        check = check_files(written.table)

        assert (check.first_version, check.num_versions) == (3, 1)
        assert check.missing.to_pylist()[0]["num_missing"] == 1
