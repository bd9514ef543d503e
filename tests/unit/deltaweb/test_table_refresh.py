"""A snapshot is brought up to a log that went on."""

from collections.abc import Sequence

import pytest

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.store import LogFile
from deltaweb.delta.snapshot.state import MAX_LAYERS
from tests.support.logs.delta_logs import LogBuilder, add, metadata, protocol, remove
from tests.support.stores.memory import MemoryTableStore


@pytest.fixture
def builder() -> LogBuilder:
    """Three versions, at 10, 20 and 30 seconds after the epoch."""
    builder = LogBuilder().start(add("a")).commit(1, add("b")).commit(2, remove("a"))
    return builder.time(0, 10_000).time(1, 20_000).time(2, 30_000)


class NotingStore(MemoryTableStore):
    """A store that notes which files of the log are read, and each listing."""

    def __init__(self) -> None:
        super().__init__()
        self.names_read: list[str] = []
        self.listings = 0

    def read_many(self, names: Sequence[str]) -> list[LogFile]:
        self.names_read.extend(names)
        return super().read_many(names)

    def list_names_from(self, name: str) -> list[str]:
        self.listings += 1
        return super().list_names_from(name)


class TestRefresh:
    def test_returns_the_same_snapshot_when_nothing_is_new(self, builder: LogBuilder):
        snapshot = builder.table.snapshot()

        assert builder.table.refresh(snapshot) is snapshot

    def test_reads_the_new_commits_alone(self) -> None:
        store = NotingStore()
        builder = LogBuilder(store).start(add("a"), add("b")).commit(1, remove("a"))
        snapshot = builder.table.snapshot()
        store.names_read.clear()
        store.listings = 0
        builder.commit(2, add("c")).commit(3, remove("b"))

        refreshed = builder.table.refresh(snapshot)

        assert store.names_read == [f"{2:020d}.json", f"{3:020d}.json"]
        assert store.listings == 0
        assert refreshed.version == 3
        assert refreshed.files["path"].to_pylist() == ["c"]

    def test_leaves_the_older_snapshot_as_it_was(self, builder: LogBuilder) -> None:
        snapshot = builder.table.snapshot()
        builder.commit(3, remove("b"), metadata("new"))

        builder.table.refresh(snapshot)

        assert snapshot.files["path"].to_pylist() == ["b"]
        assert snapshot.metadata.id == "table"
        assert snapshot.version == 2

    def test_reads_afresh_when_the_log_was_replaced(self, builder: LogBuilder) -> None:
        snapshot = builder.table.snapshot()
        builder.commit(0, protocol(), metadata("other"), add("x"))
        builder.commit(2, add("y")).time(2, 99_000)

        refreshed = builder.table.refresh(snapshot)

        assert refreshed.metadata.id == "other"
        assert sorted(refreshed.files["path"].to_pylist()) == ["b", "x", "y"]

    def test_finds_a_log_that_went_on_behind_a_checkpoint(self, builder: LogBuilder):
        snapshot = builder.table.snapshot()
        builder.checkpoint(9, protocol(), metadata(), add("z")).commit(10)
        builder.hint(b'{"version": 9}')

        assert builder.table.refresh(snapshot).version == 10

    def test_carries_a_refusal(self, builder: LogBuilder) -> None:
        snapshot = builder.table.snapshot()
        builder.commit(3, protocol(4, 7))

        assert builder.table.refresh(snapshot).refusal is not None

    def test_names_a_new_commit_that_does_not_read(self, builder: LogBuilder) -> None:
        snapshot = builder.table.snapshot()
        builder.raw_commit(3, b"torn")

        with pytest.raises(LogCorruptError):
            builder.table.refresh(snapshot)

    def test_does_not_stack_layers_without_end(self, builder: LogBuilder) -> None:
        snapshot = builder.table.snapshot()

        for version in range(3, 3 + 2 * MAX_LAYERS):
            builder.commit(version, add(f"f{version}"))
            snapshot = builder.table.refresh(snapshot)

        assert len(snapshot.state.layers) <= MAX_LAYERS
        assert snapshot.num_files == 1 + 2 * MAX_LAYERS
