"""A store in a folder: links, other files, and what Hadoop leaves beside."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from deltaweb.delta.errors import (
    LocationDeniedError,
    LogCorruptError,
    PathEscapesTableError,
)
from deltaweb.delta.log.paths import checkpoint_name
from deltaweb.delta.log.store import TableStore
from deltaweb.storage import local_pending
from deltaweb.storage.local import LocalTableStore
from deltaweb.storage.local_file import SMALL_BYTES
from tests.storage.table_stores.every_store import TableStorePromises

CHECKPOINT = checkpoint_name(3)
LISTING = """
import sys
from deltaweb.storage.local import LocalTableStore
LocalTableStore(sys.argv[1]).list_names_from("")
"""


class TestLocalTableStore(TableStorePromises):
    @pytest.fixture
    def store(self, tmp_path: Path) -> TableStore:
        return LocalTableStore(str(tmp_path / "table"))

    def test_leaves_no_temporary_file(self, store: TableStore, tmp_path: Path) -> None:
        store.put_if_absent("a", b"1")
        store.put("b", b"2")
        with pytest.raises(FileExistsError):
            store.put_if_absent("a", b"3")

        found = os.listdir(tmp_path / "table" / "_delta_log")  # noqa: PTH208  # names
        assert sorted(found) == ["a", "b"]

    @pytest.mark.parametrize("way", ["put", "commit", "delete"])
    def test_what_hadoop_says_of_other_bytes_goes_with_them(self, store, tmp_path, way):
        store.put(CHECKPOINT, b"old")
        checksum = tmp_path / "table" / "_delta_log" / f".{CHECKPOINT}.crc"
        checksum.write_bytes(b"crc")

        if way == "put":
            store.put(CHECKPOINT, b"new")
        elif way == "delete":
            store.delete(CHECKPOINT)
        else:
            file = store.begin_file(CHECKPOINT)
            file.finish()
            file.commit()

        assert not checksum.exists()

    def test_folders_are_not_listed(self, store: TableStore, tmp_path: Path) -> None:
        store.put("a", b"")
        (tmp_path / "table" / "_delta_log" / "b").mkdir()

        assert store.list_names_from("") == ["a"]
        for read in (store.read, store.status):
            with pytest.raises(FileNotFoundError):
                read("b")

    def test_a_sparse_file_without_end_takes_no_memory(self, store, tmp_path):
        store.put("sparse", b"{}")
        found = next(tmp_path.rglob("sparse"))
        os.truncate(found, 10 << 30)

        with pytest.raises(LogCorruptError, match="10,737,418,240 bytes"):
            store.read("sparse")

    def test_no_data_file_is_begun_behind_a_link_out_of_the_table(self, tmp_path):
        outside, root = tmp_path / "outside", tmp_path / "table"
        outside.mkdir()
        (root / "a").mkdir(parents=True)
        (root / "p=1").symlink_to(outside)
        (root / "a" / "b").symlink_to(tmp_path / "nowhere")
        store = LocalTableStore(str(root))

        for path in ("p=1/x", "p=1/new/x", "a/b", "a/b/x"):
            with pytest.raises(PathEscapesTableError):
                store.begin_data_file(path)
        assert not [*outside.iterdir()]
        assert not (tmp_path / "nowhere").exists()

    def test_a_link_within_the_table_is_followed(self, tmp_path: Path) -> None:
        root = tmp_path / "table"
        (root / "kept").mkdir(parents=True)
        (root / "p=1").symlink_to("kept")

        LocalTableStore(str(root)).put_data_file("p=1/x", b"data")

        assert (root / "kept" / "x").read_bytes() == b"data"

    def test_a_root_that_becomes_a_link_is_no_longer_written_to(self, tmp_path):
        root = tmp_path / "table"
        store = LocalTableStore(str(root))
        store.put_data_file("a", b"data")
        root.rename(tmp_path / "before")
        (tmp_path / "other").mkdir()
        root.symlink_to(tmp_path / "other")

        with pytest.raises(PathEscapesTableError):
            store.put_data_file("b", b"data")
        assert not [*(tmp_path / "other").iterdir()]

    def test_a_temporary_name_that_is_taken_is_passed_over(self, tmp_path, monkeypatch):
        names = iter(["taken000", "taken000", "free0000"])
        monkeypatch.setattr(local_pending, "token_hex", lambda _: next(names))
        store = LocalTableStore(str(tmp_path / "table"))
        first, second = store.begin_data_file("a"), store.begin_data_file("a")

        for pending, data in ((first, b"first"), (second, b"second")):
            pending.sink.write(data)
            pending.finish()
            pending.commit()

        with store.open_data_file("a") as file:
            assert file.read() == b"second"

    def test_an_allowed_root_is_read(self, tmp_path: Path) -> None:
        (tmp_path / "shared").mkdir()
        (tmp_path / "shared" / "a b").write_bytes(b"data")
        root, allowed = str(tmp_path / "table"), [str(tmp_path / "shared")]
        store = LocalTableStore(root, allowed)

        for path in (f"{allowed[0]}/a%20b", f"file://{allowed[0]}/a%20b"):
            with store.open_data_file(path) as file:
                assert file.read() == b"data"
        with pytest.raises(PathEscapesTableError):
            LocalTableStore(root).open_data_file(f"{allowed[0]}/a%20b")

    def test_a_link_out_of_the_table_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "table").mkdir()
        (tmp_path / "outside").write_bytes(b"secret")
        (tmp_path / "table" / "link").symlink_to(tmp_path / "outside")
        store = LocalTableStore(str(tmp_path / "table"))

        with pytest.raises(PathEscapesTableError):
            store.open_data_file("link")
        with pytest.raises(PathEscapesTableError):
            store.has_data_file("link")

    @pytest.mark.parametrize("size", [7, SMALL_BYTES + 1], ids=["small", "large"])
    def test_a_linked_folder_is_read_where_its_place_is_allowed(self, tmp_path, size):
        (tmp_path / "table").mkdir()
        (tmp_path / "outside").mkdir()
        (tmp_path / "outside" / "a").write_bytes(b"x" * size)
        (tmp_path / "table" / "link").symlink_to(tmp_path / "outside")
        root, outside = (str(tmp_path / name) for name in ("table", "outside"))

        with pytest.raises(PathEscapesTableError):
            LocalTableStore(root).open_data_file("link/a")
        with LocalTableStore(root, [outside]).open_data_file("link/a") as file:
            assert file.read() == b"x" * size

    def test_a_file_is_not_deleted_behind_a_link_out_of_the_table(self, tmp_path: Path):
        (tmp_path / "table").mkdir()
        (tmp_path / "outside").mkdir()
        (tmp_path / "outside" / "a").write_bytes(b"secret")
        (tmp_path / "table" / "link").symlink_to(tmp_path / "outside")
        store = LocalTableStore(str(tmp_path / "table"), [str(tmp_path / "outside")])

        with pytest.raises(PathEscapesTableError):
            store.delete_data_file("link/a")
        assert (tmp_path / "outside" / "a").exists()

    def test_nothing_is_written_into_a_log_that_lies_elsewhere(self, tmp_path: Path):
        (tmp_path / "table").mkdir()
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "table" / "_delta_log").symlink_to(tmp_path / "elsewhere")
        store = LocalTableStore(str(tmp_path / "table"))

        for write in (store.put, store.put_if_absent):
            with pytest.raises(PathEscapesTableError):
                write("a", b"data")
        assert list((tmp_path / "elsewhere").iterdir()) == []

    def test_a_link_inside_the_table_is_followed(self, tmp_path: Path) -> None:
        log = tmp_path / "table" / "_delta_log"
        log.mkdir(parents=True)
        (tmp_path / "table" / "kept").write_bytes(b"data")
        (log / "a").symlink_to(tmp_path / "table" / "kept")
        store = LocalTableStore(str(tmp_path / "table"))

        assert store.read("a") == b"data"
        assert store.list_names_from("") == ["a"]

    def test_a_folder_that_may_not_be_read_is_denied(self, tmp_path: Path) -> None:
        log = tmp_path / "table" / "_delta_log"
        log.mkdir(parents=True)
        log.chmod(0)
        command = [sys.executable, "-c", LISTING, str(tmp_path / "table")]
        if os.geteuid() == 0:  # without its capabilities, root may read no more
            command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *command]

        done = subprocess.run(command, capture_output=True, text=True, check=False)

        name = f"{LocationDeniedError.__module__}.{LocationDeniedError.__name__}"
        assert done.stderr.splitlines()[-1].startswith(name)
        log.chmod(0o755)
