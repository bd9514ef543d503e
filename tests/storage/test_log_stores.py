"""What every log store promises, held against each of them."""

import itertools
import os
import threading
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from deltaweb.delta.errors import (
    DataFileMissingError,
    LocationDeniedError,
    LocationInvalidError,
    LocationUnreachableError,
    LocationUnsupportedError,
    PathEscapesTableError,
)
from deltaweb.delta.log_store import TableStore
from deltaweb.storage.local import LocalTableStore
from deltaweb.storage.location import normalize_location, open_store
from deltaweb.storage.memory import MemoryTableStore
from deltaweb.storage.remote import RemoteTableStore
from tests.s3_server import S3Server

CHECKPOINT = "00000000000000000003.checkpoint.parquet"

_numbers = itertools.count()


class AbstractTableStoreTests(ABC):
    """Inherited by the tests of each store."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> TableStore:
        return self.new_store(tmp_path)

    @abstractmethod
    def new_store(self, folder: Path) -> TableStore:
        """Return a store of a table without any file."""

    # === The log ===

    def test_an_empty_root_lists_nothing(self, store: TableStore) -> None:
        assert store.list_names_from("0") == []
        assert store.list_from("0") == []

    def test_a_file_reads_as_it_was_written(self, store: TableStore) -> None:
        content = bytes(range(256)) * 1000

        store.put_if_absent("a.json", content)

        assert store.read("a.json") == content
        assert store.read_head("a.json", 300) == content[:300]
        assert store.read_head("a.json", 10**7) == content
        with store.open_input("a.json") as file:
            assert file.read() == content
        assert store.root_exists()

    @pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, 131072, 4_300_000])
    def test_any_size_reads_whole(self, store: TableStore, size: int) -> None:
        store.put("a", b"x" * size)

        assert len(store.read("a")) == size
        assert len(store.read_head("a", 65536)) == min(size, 65536)
        assert store.status("a").size == size

    def test_lists_from_a_name_in_order(self, store: TableStore) -> None:
        for name in ("c", "a", "b", "B", "d"):
            store.put(name, name.encode())

        assert store.list_names_from("b") == ["b", "c", "d"]
        assert store.list_names_from("bb") == ["c", "d"]
        assert [s.name for s in store.list_from("")] == ["B", "a", "b", "c", "d"]
        assert [s.size for s in store.list_from("d")] == [1]

    def test_reads_many_in_the_order_asked_for(self, store: TableStore) -> None:
        names = [f"{number:03d}" for number in range(40)]
        for name in names:
            store.put(name, name.encode())

        assert store.read_many([]) == []
        assert store.read_many(names[::-1]) == [name.encode() for name in names[::-1]]

    def test_a_missing_file_is_not_found(self, store: TableStore) -> None:
        store.put("there", b"")

        for read in (
            lambda: store.read("gone"),
            lambda: store.read_head("gone", 1),
            lambda: store.read_many(["there", "gone"]),
            lambda: store.open_input("gone"),
            lambda: store.status("gone"),
        ):
            with pytest.raises(FileNotFoundError):
                read()

    def test_put_if_absent_never_overwrites(self, store: TableStore) -> None:
        store.put_if_absent("a", b"first")

        with pytest.raises(FileExistsError):
            store.put_if_absent("a", b"second")

        assert store.read("a") == b"first"
        assert store.list_names_from("") == ["a"]

    def test_put_overwrites(self, store: TableStore) -> None:
        store.put("a", b"first")
        store.put("a", b"second")

        assert store.read("a") == b"second"
        assert store.list_names_from("") == ["a"]

    def test_of_many_writers_one_wins(self, store: TableStore) -> None:
        start = threading.Barrier(8)

        def write(number: int) -> int | None:
            start.wait()
            try:
                store.put_if_absent("a", b"%d" % number * 10_000)
            except FileExistsError:
                return None
            return number

        with ThreadPoolExecutor(8) as pool:
            winners = [n for n in pool.map(write, range(8)) if n is not None]

        assert len(winners) == 1
        assert store.read("a") == b"%d" % winners[0] * 10_000

    # === Files that are written piece by piece ===

    @pytest.mark.parametrize("size", [0, 1, 4_300_000])
    def test_a_pending_file_is_seen_when_it_is_committed(
        self, store: TableStore, size: int
    ) -> None:
        store.put("0", b"")
        file = store.begin_file("a")
        file.sink.write(b"x" * size)

        counted = file.finish()

        assert counted == size
        assert [name for name in store.list_names_from("") if name[0] != "."] == ["0"]
        file.commit()
        file.discard()
        assert len(store.read("a")) == size
        assert store.list_names_from("") == ["0", "a"]

    def test_a_pending_file_replaces_the_one_that_is_there(
        self, store: TableStore
    ) -> None:
        store.put("a", b"first")
        file = store.begin_file("a")
        file.sink.write(b"second")
        file.finish()

        file.commit()

        assert store.read("a") == b"second"

    @pytest.mark.parametrize("is_finished", [True, False])
    def test_a_discarded_file_leaves_nothing(
        self, store: TableStore, *, is_finished: bool
    ) -> None:
        store.put("0", b"")
        file = store.begin_file("a")
        file.sink.write(b"x")
        if is_finished:
            file.finish()

        file.discard()
        file.discard()

        assert store.list_names_from("") == ["0"]
        assert store.remove_leftovers() == []

    def test_a_file_that_is_handed_over_is_taken_by_another(
        self, store: TableStore
    ) -> None:
        store.put("0", b"")
        for data in (b"first", b"second"):
            file = store.begin_file(CHECKPOINT)
            file.sink.write(data)
            file.finish()
            beside = file.hand_over("build1")
            file.discard()
            assert beside.startswith(".")
            assert store.remove_leftovers() == []

            taken = store.take_over(CHECKPOINT, beside)
            taken.commit()
            taken.discard()

            assert store.list_names_from("") == ["0", CHECKPOINT]
            assert store.read(CHECKPOINT) == data

    def test_what_is_handed_over_and_not_taken_is_removed(
        self, store: TableStore
    ) -> None:
        store.put("0", b"")
        names = []
        for build in ("build1", "build2", "build1"):
            file = store.begin_file(CHECKPOINT)
            file.sink.write(b"x")
            file.finish()
            names.append(file.hand_over(build))

        removed = store.remove_handed_over("build1")

        assert sorted(removed) == sorted([names[0], names[2]])
        assert store.list_names_from("") == [names[1], "0"]
        store.take_over(CHECKPOINT, names[1]).discard()
        assert store.list_names_from("") == ["0"]
        assert store.remove_handed_over("build2") == []

    def test_an_update_sees_what_is_there(self, store: TableStore) -> None:
        store.put("0", b"")
        seen: list[bytes | None] = []

        def change(before: bytes | None) -> bytes | None:
            seen.append(before)
            return b"new" if before is None else None

        store.update("a", change)
        store.update("a", change)

        assert seen == [None, b"new"]
        assert store.read("a") == b"new"

    def test_a_deleted_file_is_gone(self, store: TableStore) -> None:
        store.put("a", b"x")
        store.put("b", b"x")

        store.delete("a")

        assert store.list_names_from("") == ["b"]

    # === Data files ===

    def test_a_path_is_decoded_once(self, store: TableStore) -> None:
        store.put_data_file("p=%2520/a%20b+c.parquet", b"data")

        assert store.has_data_file("p=%2520/a b+c.parquet")
        assert not store.has_data_file("p=%20/a b+c.parquet")
        with store.open_data_file("p=%2520/a%20b%2Bc.parquet") as file:
            assert file.read() == b"data"

    def test_a_data_file_is_never_overwritten(self, store: TableStore) -> None:
        store.put_data_file("a", b"first")

        with pytest.raises(FileExistsError):
            store.put_data_file("a", b"second")

    def test_a_missing_data_file_is_named(self, store: TableStore) -> None:
        with pytest.raises(DataFileMissingError, match="gone%20file"):
            store.open_data_file("gone%20file")

    @pytest.mark.parametrize(
        "path", ["../x", "a/../../x", "%2E%2E/x", "/x", "//x", "other://x/y", "a%00"]
    )
    def test_a_path_out_of_the_table_is_refused(
        self, store: TableStore, path: str
    ) -> None:
        for use in (
            lambda: store.open_data_file(path),
            lambda: store.has_data_file(path),
            lambda: store.put_data_file(path, b""),
        ):
            with pytest.raises(PathEscapesTableError):
                use()

    def test_a_path_that_stays_inside_may_turn(self, store: TableStore) -> None:
        store.put_data_file("a", b"data")

        assert store.has_data_file("./b/../a")


class TestMemoryTableStore(AbstractTableStoreTests):
    def new_store(self, folder: Path) -> TableStore:  # noqa: ARG002  # needs none
        return MemoryTableStore()


class TestRemoteTableStore(AbstractTableStoreTests):
    def new_store(self, folder: Path) -> TableStore:  # noqa: ARG002  # needs none
        return open_store(f"memory://storage-test/{next(_numbers)}")

    def test_is_the_store_of_a_url(self, store: TableStore) -> None:
        assert isinstance(store, RemoteTableStore)
        assert store.root.startswith("memory://storage-test/")

    def test_an_absolute_path_is_read_below_an_allowed_root(self) -> None:
        other = open_store("memory://storage-other/t")
        other.put_data_file("a", b"data")
        path = "memory://storage-other/t/a"
        strict = open_store("memory://storage-test/strict")
        allowed = ["memory://storage-other"]
        lenient = open_store("memory://storage-test/x", allowed_roots=allowed)

        with pytest.raises(PathEscapesTableError):
            strict.open_data_file(path)
        with lenient.open_data_file(path) as file:
            assert file.read() == b"data"

    def test_a_scheme_without_atomic_create_is_not_written(
        self, tmp_path: Path
    ) -> None:
        store = RemoteTableStore(f"local://{tmp_path}", {})

        with pytest.raises(LocationUnsupportedError):
            store.put_if_absent("a", b"")

    @pytest.mark.parametrize("url", ["gs://bucket/t", "abfs://c@a/t"])
    def test_a_missing_driver_is_named(self, url: str) -> None:
        with pytest.raises(LocationUnsupportedError, match="Install the package"):
            open_store(url)

    def test_an_unknown_scheme_is_refused(self) -> None:
        with pytest.raises(LocationUnsupportedError, match="nowhere://"):
            open_store("nowhere://bucket/t")

    def test_a_secret_stays_out_of_errors(self) -> None:
        url = "memory://user:hunter2@host/t?token=hunter2"

        store = open_store(url, {"key": "hunter2"})

        assert "hunter2" not in store.root
        with pytest.raises(DataFileMissingError) as caught:
            store.open_data_file("a")
        assert "hunter2" not in str(caught.value)


class TestS3TableStore(AbstractTableStoreTests):
    @pytest.fixture
    def store(self, s3: S3Server) -> TableStore:
        return open_store(f"s3://{s3.new_bucket()}/a b/ü=1", s3.options)

    def new_store(self, folder: Path) -> TableStore:
        raise NotImplementedError(folder)  # the fixture above makes them

    def test_the_log_is_listed_over_many_pages(
        self, store: TableStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "10")
        names = [f"{number:020}.json" for number in range(35)]
        for name in names:
            store.put(name, b"")

        assert store.list_names_from("") == names
        assert store.list_names_from(names[17]) == names[17:]

    def test_a_bucket_that_is_not_there_holds_nothing(self, s3: S3Server) -> None:
        store = open_store("s3://no-such-bucket/t", s3.options)

        assert store.list_names_from("") == []
        assert not store.root_exists()

    def test_a_server_that_does_not_answer_is_a_sentence(self) -> None:
        options = {
            "key": "k",
            "secret": "hunter2",
            "endpoint_url": "http://127.0.0.1:1",
            "config_kwargs": {"retries": {"max_attempts": 0}},
        }

        with pytest.raises(LocationUnreachableError) as caught:
            open_store("s3://bucket/t", options).list_names_from("")
        assert "hunter2" not in str(caught.value)

    def test_the_other_spelling_of_the_scheme_is_the_same_storage(
        self, store: TableStore, s3: S3Server
    ) -> None:
        store.put("a", b"1")
        other = open_store(store.root.replace("s3://", "s3a://"), s3.options)

        assert other.read("a") == b"1"


class TestLocalTableStore(AbstractTableStoreTests):
    def new_store(self, folder: Path) -> TableStore:
        return LocalTableStore(str(folder / "table"))

    def test_leaves_no_temporary_file(self, store: TableStore, tmp_path: Path) -> None:
        store.put_if_absent("a", b"1")
        store.put("b", b"2")
        with pytest.raises(FileExistsError):
            store.put_if_absent("a", b"3")

        found = os.listdir(tmp_path / "table" / "_delta_log")  # noqa: PTH208  # names
        assert sorted(found) == ["a", "b"]

    @pytest.mark.parametrize("way", ["put", "commit", "take over", "delete"])
    def test_what_hadoop_says_of_other_bytes_goes_with_them(
        self, store: TableStore, tmp_path: Path, way: str
    ) -> None:
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
            if way == "commit":
                file.commit()
            else:
                store.take_over(CHECKPOINT, file.hand_over("build")).commit()

        assert not checksum.exists()

    def test_folders_are_not_listed(self, store: TableStore, tmp_path: Path) -> None:
        store.put("a", b"")
        (tmp_path / "table" / "_delta_log" / "b").mkdir()

        assert store.list_names_from("") == ["a"]
        for read in (store.read, store.status):
            with pytest.raises(FileNotFoundError):
                read("b")

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

    def test_nothing_is_written_into_a_log_that_lies_elsewhere(
        self, tmp_path: Path
    ) -> None:
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

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_folder_that_may_not_be_read_is_denied(self, tmp_path: Path) -> None:
        log = tmp_path / "table" / "_delta_log"
        log.mkdir(parents=True)
        log.chmod(0)

        with pytest.raises(LocationDeniedError):
            LocalTableStore(str(tmp_path / "table")).list_names_from("")

        log.chmod(0o755)


class TestNormalizeLocation:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            pytest.param("/lake/t/", "/lake/t", id="a trailing slash"),
            pytest.param("/lake/x/../t", "/lake/t", id="a turn"),
            pytest.param("file:///lake/a%20b", "/lake/a b", id="a file URL"),
            pytest.param("file:/lake/t", "/lake/t", id="a short file URL"),
            pytest.param("S3://bucket/t/", "s3://bucket/t", id="an upper scheme"),
            pytest.param("s3://bucket//a/./t", "s3://bucket/a/t", id="doubled slashes"),
            pytest.param("s3://bucket/a/../../t", "s3://t", id="a turn in a URL"),
            pytest.param("  /lake/t ", "/lake/t", id="spaces around"),
        ],
    )
    def test_gives_one_form(self, text: str, expected: str) -> None:
        assert normalize_location(text) == expected

    def test_a_relative_path_starts_at_the_working_folder(self) -> None:
        assert normalize_location("t") == str(Path.cwd() / "t")

    @pytest.mark.parametrize("text", ["", "  ", "a\0b", "x" * 5000, "s3://", "s3:///"])
    def test_refuses_what_is_no_location(self, text: str) -> None:
        with pytest.raises(LocationInvalidError):
            normalize_location(text)
