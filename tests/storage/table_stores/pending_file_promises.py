"""What every store promises of files that are written piece by piece."""

import pytest

from deltaweb.delta.log_path import checkpoint_name
from deltaweb.delta.log_store import TableStore

CHECKPOINT = checkpoint_name(3)


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
