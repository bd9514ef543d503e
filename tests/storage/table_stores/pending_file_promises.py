"""What every store promises of files that are written piece by piece."""

import pytest

from deltaweb.delta.log.store import TableStore


class PendingFilePromises:
    """A file is seen whole or not at all."""

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
