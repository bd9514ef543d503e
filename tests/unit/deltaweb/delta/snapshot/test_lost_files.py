"""Snapshots whose log files are deleted by a clean-up after they were read."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb import DeltaTable
from deltaweb.delta.errors import LogFileGoneError, VersionNotFoundError
from deltaweb.delta.log.commits.tail import HELD_BYTES
from deltaweb.delta.log.paths import commit_name, uuid_checkpoint_name
from deltaweb.delta.log.store import LogFile
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.kept import kept
from deltaweb.delta.snapshot.statistics_texts import block_texts
from tests.support import cases
from tests.support.logs.delta_logs import (
    UUID,
    Action,
    LogBuilder,
    add,
    metadata,
    of_version,
    protocol,
    remove,
    sidecar,
    txn,
)
from tests.support.stores.memory import MemoryTableStore
from tests.support.tables.table_builder import TableBuilder

FILES = ("a", "b", "c", "d", "e")
HEAD = (protocol(), metadata(), txn("app", 4))
LATER = datetime.now(UTC) + timedelta(days=40)


def known(path: str) -> Action:
    stats = {"numRecords": 2, "minValues": {"id": path}, "nullCount": {"id": 0}}
    return add(path, stats=json.dumps(stats))


ADDS = tuple(map(known, FILES))


def commits() -> LogBuilder:
    # Statistics of a shorter log are held.
    note = {"commitInfo": {"note": "x" * HELD_BYTES}}
    log = LogBuilder().start(note, txn("app", 4), *ADDS[:3])
    return log.commit(1, *ADDS[3:]).commit(2, remove("gone"))


def one_checkpoint() -> LogBuilder:
    return commits().checkpoint(1, *HEAD, *ADDS)


def parts() -> LogBuilder:
    return commits().checkpoint(1, *HEAD, *ADDS, parts=3)


def sidecars() -> LogBuilder:
    log = commits().sidecar("one.parquet", *ADDS[:2])
    log.sidecar("two.parquet", *ADDS[2:])
    names = map(sidecar, ("one.parquet", "two.parquet"))
    return log.manifest(
        uuid_checkpoint_name(1, UUID, ".parquet"), of_version(1), *HEAD, *names
    )


LAYOUTS = {
    "commits": commits,
    "a checkpoint": one_checkpoint,
    "parts of a checkpoint": parts,
    "sidecars": sidecars,
}


def clean_up(log: LogBuilder, kept_from: int, *checkpoint: Action) -> None:
    """Write a checkpoint, and delete all that is older."""
    for name in list(log.store.log_files):
        if name < commit_name(kept_from) or name.startswith("_sidecars/"):
            log.delete(name)
    log.checkpoint(kept_from, *checkpoint)


def smallest(snapshot: Snapshot) -> dict[str, str | None]:
    """Return the smallest id by file, as statistics say."""
    known = snapshot.statistics(["id"])["min"].to_pylist()
    paths = snapshot.files["path"].to_pylist()
    return {path: row and row["id"] for path, row in zip(paths, known, strict=True)}


@cases("layout", LAYOUTS)
class TestStatistics:
    def test_are_those_of_a_checkpoint_of_the_version(self, layout) -> None:
        log = layout()
        snapshot = log.table.snapshot()
        clean_up(log, 2, *HEAD, *ADDS)

        assert smallest(snapshot) == {name: name for name in FILES}

    def test_are_those_of_a_later_version_or_unknown(self, layout) -> None:
        log = layout()
        snapshot = log.table.snapshot()
        log.commit(3, remove("b"))
        clean_up(log, 3, *HEAD, *ADDS[:1], *ADDS[2:])

        assert smallest(snapshot) == {name: name for name in FILES} | {"b": None}

    def test_are_in_all_forms(self, layout) -> None:
        log = layout()
        blocks = log.table.snapshot().state.blocks
        schema = log.table.snapshot().schema
        clean_up(log, 2, *HEAD, *ADDS)

        for block in blocks:
            paths = block.block.files["path"].to_pylist()
            parts = list(block.statistics_parts(2))
            held = [row for part in parts for row in part.raw.json_text.to_pylist()]
            assert [json.loads(text)["minValues"]["id"] for text in held] == paths
            assert block_texts(block, schema).to_pylist() == held
            assert sum(part.num_files for part in parts) == len(paths)

    def test_are_found_after_a_refresh(self, layout) -> None:
        log = layout()
        held = log.table.snapshot()
        log.commit(3, known("f"))
        clean_up(log, 2, *HEAD, *ADDS)

        newer = log.table.refresh(held)

        assert smallest(newer) == {name: name for name in (*FILES, "f")}
        assert log.table.refresh(newer).state.layers != newer.state.layers

    def test_are_an_error_without_any_log(self, layout) -> None:
        log = layout()
        snapshot = log.table.snapshot()
        log.store.log_files.clear()

        with pytest.raises(LogFileGoneError, match="Read the newest version"):
            snapshot.statistics(["id"])


@cases("layout", LAYOUTS)
def test_other_actions_are_those_of_a_checkpoint_of_the_version(layout) -> None:
    log = layout()
    snapshot = log.table.snapshot()
    clean_up(log, 2, *HEAD, *ADDS, remove("gone"))

    assert snapshot.tombstones["path"].to_pylist() == ["gone"]
    assert snapshot.transactions["app"].version == 4


class CleanedWhileRead(MemoryTableStore):
    """A store in which a clean-up follows the listing of the log."""

    log: LogBuilder | None = None
    kept_from = 3

    def list_names_from(self, name: str) -> list[str]:
        names = super().list_names_from(name)
        log, self.log = self.log, None
        if log is not None:
            clean_up(log, self.kept_from, *HEAD, *ADDS)
        return names


class CleanedBeforeReading(MemoryTableStore):
    """A store in which a clean-up comes between finding commits and reading them."""

    log: LogBuilder | None = None

    def read_many(self, names: Sequence[str]) -> list[LogFile]:
        log, self.log = self.log, None
        if log is not None:
            clean_up(log, 4, *HEAD, *ADDS)
        return super().read_many(names)


@pytest.mark.parametrize("version", [None, 4])
def test_a_refresh_during_a_clean_up_reads_the_checkpoint(version: int | None) -> None:
    store = CleanedBeforeReading()
    store.log_files = commits().store.log_files
    table = DeltaTable.from_store(store)
    held = table.snapshot()
    store.log = LogBuilder(store).commit(3, remove("x")).commit(4)

    newer = table.refresh(held, version)

    assert newer.version == 4
    assert smallest(newer) == {name: name for name in FILES}


class TestReadingDuringACleanUp:
    @pytest.fixture(params=LAYOUTS.values(), ids=[*LAYOUTS])
    def store(self, request) -> CleanedWhileRead:
        store = CleanedWhileRead()
        store.log_files = request.param().store.log_files
        log = LogBuilder(store)
        log.commit(3, remove("x"))
        store.log = log
        return store

    def test_is_of_the_newest_version(self, store: CleanedWhileRead) -> None:
        snapshot = DeltaTable.from_store(store).snapshot()

        assert smallest(snapshot) == {name: name for name in FILES}
        assert store.log is None

    def test_of_its_definition(self, store: CleanedWhileRead) -> None:
        assert DeltaTable.from_store(store).definition().version == 3

    def test_names_an_older_version_that_is_deleted(self, store) -> None:
        with pytest.raises(VersionNotFoundError) as caught:
            DeltaTable.from_store(store).snapshot(2)

        assert caught.value.earliest == 3


def test_of_a_checkpoint_that_was_deleted_before_it_uses_an_older_one() -> None:
    log = one_checkpoint().sidecar("one.parquet", *ADDS)
    name = uuid_checkpoint_name(2, UUID, ".parquet")
    log.manifest(name, of_version(2), *HEAD, sidecar("missing.parquet"))

    assert smallest(log.table.snapshot()) == {name: name for name in FILES}


# === Tables with rows ===


FEATURES = ("delta.enableDeletionVectors", "delta.enableChangeDataFeed")
FILES_OF_ROWS = [
    pa.table({"id": [number, number + 10], "name": ["x", "y"]}) for number in range(4)
]
TABLE = (
    TableBuilder()
    .columns(FILES_OF_ROWS[0].schema)
    .properties(dict.fromkeys(FEATURES, "true"))
    .then(
        *(
            partial(DeltaTable.append, rows=rows, checkpoint="never")
            for rows in FILES_OF_ROWS
        )
    )
)


@pytest.fixture
def worker(local_table: DeltaTable) -> DeltaTable:
    """A table in a process that keeps versions, before the log is cleaned up."""
    kept.begin()
    worker = DeltaTable(local_table.root)
    worker.snapshot()
    state = worker.snapshot().state
    other = DeltaTable.from_store(worker.store)
    other.create_checkpoint()
    names = sorted(Path(local_table.root, "_delta_log").glob("*.json"))
    for name in names[:-1]:
        name.unlink()
    assert worker.snapshot().state is state
    return worker


@pytest.fixture(autouse=True)
def _keeps_nothing():
    yield
    kept.end()


CHANGES = {
    "delete": lambda table: table.delete("id = 3"),
    "update": lambda table: table.update({"name": "'z'"}, "id = 3"),
    "optimize": lambda table: table.optimize(),
    "restore": lambda table: table.restore(4),
    "read": lambda table: table.snapshot().read(predicate="id = 3"),
}


@cases("change", CHANGES)
def test_a_kept_version_can_be_changed(worker: DeltaTable, change) -> None:
    rows = sorted(worker.snapshot().read()["id"].to_pylist())

    change(worker)

    kept.end()
    after = DeltaTable(worker.root).snapshot()
    found = sorted(after.read()["id"].to_pylist())
    is_deleted = change is CHANGES["delete"]
    assert found == ([*rows[:3], *rows[4:]] if is_deleted else rows)
    assert after.statistics([])["num_records"].null_count == 0


def test_a_kept_version_can_be_merged_into(worker: DeltaTable) -> None:
    source = pa.table({"id": [3, 77], "name": ["n", "n"]})

    merge = worker.merge(source, on="t.id = s.id")
    merge.when_matched_update().when_not_matched_insert().execute()

    kept.end()
    rows = DeltaTable(worker.root).snapshot().read(predicate="name = 'n'")
    assert sorted(rows["id"].to_pylist()) == [3, 77]
