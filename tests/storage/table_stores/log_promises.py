"""What every store promises of the files of a log."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log import store as log_store
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.writing.commit import commit
from tests.support.tables.written_tables import (
    AT_ONCE,
    added,
    create,
    live_paths,
    on_newest,
)


class LogPromises:
    """Files of a log are listed, read, written and never overwritten by accident."""

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
        names = [f"{number:03d}" for number in range(16)]
        for name in names:
            store.put(name, name.encode())

        assert store.read_many([]) == []
        found = store.read_many(names[::-1])
        assert [file.data for file in found] == [n.encode() for n in names[::-1]]
        listed = [store.status(name).modification_time for name in names[::-1]]
        told = listed if store.reads_tell_times else [None] * len(names)
        assert [file.modification_time for file in found] == told

    def test_a_file_that_is_too_large_is_refused_before_it_is_read(
        self, store: TableStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.put("small", b"x" * 100)
        store.put("large", b"x" * 101)
        monkeypatch.setattr(log_store, "MAX_LOG_FILE_BYTES", 100)
        store.list_from("")

        assert len(store.read("small")) == 100
        assert store.read_head("large", 3) == b"xxx"
        with pytest.raises(LogCorruptError, match="101 bytes"):
            store.read("large")
        with pytest.raises(LogCorruptError, match="large"):
            store.read_many(["small", "large"])
        store.put("large", b"smaller")
        assert store.status("large").size == 7
        assert store.read("large") == b"smaller"

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

    def test_a_repeated_put_takes_the_first_name_that_is_free(
        self, store: TableStore
    ) -> None:
        store.put_if_absent("a", b"first")

        with store.repeated_put() as put_if_absent:
            with pytest.raises(FileExistsError):
                put_if_absent("a", b"second")
            put_if_absent("b", b"second")

        assert [store.read(name) for name in ("a", "b")] == [b"first", b"second"]
        assert store.list_names_from("") == ["a", "b"]

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

    def test_takes_commits(self, store: TableStore) -> None:
        create(store)
        first = on_newest(store, added=added(("a", "a", 1, 2)))
        second = on_newest(store, added=added(("b", "a", 1, 2)))

        commit(store, first, policy=AT_ONCE)
        result = commit(store, second, policy=AT_ONCE)

        assert (result.version, result.rebased_over) == (2, (1,))
        assert live_paths(store) == ["a", "b"]

    def test_a_deleted_file_is_gone(self, store: TableStore) -> None:
        store.put("a", b"x")
        store.put("b", b"x")

        store.delete("a")

        assert store.list_names_from("") == ["b"]
