"""Parts of an index are kept from one to the next, and read as one file."""

from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.index.folder import parts
from deltaweb.index.folder.file_index import COMMITS, FILES
from deltaweb.index.folder.manifest import MANIFEST, load_manifest
from deltaweb.index.folder.parts import (
    IndexMissingError,
    KeptPart,
    Piece,
    map_batches,
    map_history,
    map_table,
    part_names,
    size_bytes,
    write_parts,
)

SCHEMA = pa.schema({"version": pa.int64(), "by": pa.string()})


def rows(by: str, *versions: int) -> pa.RecordBatch:
    values = [{"version": version, "by": by} for version in versions]
    return pa.RecordBatch.from_pylist(values, SCHEMA)


def write(folder: Path, *pieces: Piece, name: str = COMMITS) -> Path:
    folder.mkdir(exist_ok=True)
    write_parts(folder, name, SCHEMA, pieces)
    return folder


def kept(folder: Path, name: str = COMMITS) -> KeptPart:
    manifest = load_manifest(folder)
    assert manifest is not None
    return KeptPart(folder / name, manifest.files[name])


def history(folder: Path) -> list[tuple[str, int]]:
    batches = map_batches(folder, COMMITS, SCHEMA)
    found = [row for batch in batches for row in batch.to_pylist()]
    return [(row["by"], row["version"]) for row in found]


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return write(tmp_path / "old", rows("old", 0, 1), rows("old", 2))


class TestWriting:
    def test_makes_one_part_of_few_rows(self, old: Path) -> None:
        assert part_names(old, COMMITS) == [COMMITS]
        assert history(old) == [("old", 0), ("old", 1), ("old", 2)]

    def test_makes_a_part_of_no_rows(self, tmp_path: Path) -> None:
        assert history(write(tmp_path / "none")) == []

    def test_makes_parts_of_bounded_rows(self, tmp_path, monkeypatch):
        monkeypatch.setattr(parts, "PART_ROWS", 2)

        written = write(tmp_path / "new", *(rows("new", at) for at in range(5)))

        names = [COMMITS, "commits.1.arrow", "commits.2.arrow"]
        assert part_names(written, COMMITS) == names
        assert [len(part) for part in map_history(written, COMMITS, SCHEMA)] == [
            2,
            2,
            1,
        ]
        assert size_bytes(written, COMMITS) == sum(
            (written / name).stat().st_size for name in names
        )

    def test_links_what_is_kept(self, old: Path, tmp_path: Path) -> None:
        new = write(tmp_path / "new", kept(old), rows("new", 3))

        assert (new / COMMITS).samefile(old / COMMITS)
        assert history(new)[-2:] == [("old", 2), ("new", 3)]

    def test_copies_what_cannot_be_linked(self, old: Path, tmp_path: Path) -> None:
        (tmp_path / "new").mkdir()
        (tmp_path / "new" / COMMITS).write_bytes(b"in the way of a link")

        new = write(tmp_path / "new", kept(old))

        assert history(new) == history(old)

    def test_seals_each_part(self, old: Path, tmp_path: Path) -> None:
        new = write(tmp_path / "new", kept(old), rows("new", 3))

        manifest = load_manifest(new)
        assert manifest is not None
        assert list(manifest.files) == [COMMITS, "commits.1.arrow"]
        manifest.check(*manifest.files)


class TestReading:
    def test_takes_a_version_from_the_last_part_that_has_it(self, old, tmp_path):
        new = write(tmp_path / "new", kept(old), rows("new", 2, 3))

        assert history(new) == [("old", 0), ("old", 1), ("new", 2), ("new", 3)]

    def test_outlives_the_folder(self, old: Path, tmp_path: Path) -> None:
        new = write(tmp_path / "new", kept(old), rows("new", 3), name=FILES)

        files = map_table(new, FILES)

        for path in (*old.iterdir(), *new.iterdir()):
            path.unlink()
        assert files["version"].to_pylist() == [0, 1, 2, 3]

    def test_takes_parts_without_a_manifest(self, old: Path, tmp_path: Path) -> None:
        new = write(tmp_path / "new", kept(old), rows("new", 3))
        (new / MANIFEST).unlink()

        assert len(history(new)) == 4

    @pytest.mark.parametrize("name", [COMMITS, "commits.1.arrow", "commits.2.arrow"])
    @pytest.mark.parametrize("left", [None, b"", b"ARROW1 torn"])
    def test_refuses_parts_of_which_one_is_not_whole(self, old, tmp_path, name, left):
        first = write(tmp_path / "first", kept(old), rows("first", 3))
        second = kept(first, "commits.1.arrow")
        new = write(tmp_path / "new", kept(old), second, rows("new", 4))
        (new / name).unlink()
        if left is not None:
            (new / name).write_bytes(left)

        with pytest.raises(IndexMissingError):
            map_batches(new, COMMITS, SCHEMA)

    def test_refuses_a_part_of_another_history(self, old: Path, tmp_path: Path) -> None:
        new = write(tmp_path / "new", kept(old), rows("new", 0, 1))

        with pytest.raises(IndexMissingError):
            map_batches(new, COMMITS, SCHEMA)

    def test_refuses_rows_of_another_schema(self, old: Path) -> None:
        with pytest.raises(IndexMissingError):
            map_batches(old, COMMITS, pa.schema({"path": pa.int64()}))
