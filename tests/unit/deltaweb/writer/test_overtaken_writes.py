"""What a writer does that was overtaken: gives way, or says why it cannot."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from deltaweb.delta.writing.errors import CommitConflictError
from deltaweb.table import DeltaTable
from tests.support import by_turns, cases
from tests.support.stores.memory import MemoryTableStore
from tests.support.tables.table_builder import ROWS, TableBuilder, numbers

pytestmark = pytest.mark.slow

MORE = ROWS.slice(0, 1)
Rival = Callable[[DeltaTable], object]


class Overtaken(MemoryTableStore):
    """A store in which another writer is faster, once."""

    rival: Rival | None = None

    def put_if_absent(self, name: str, data: bytes) -> None:
        if self.rival is not None:
            rival, self.rival = self.rival, None
            rival(DeltaTable.from_store(self))
        super().put_if_absent(name, data)


@pytest.fixture
def store() -> Overtaken:
    return Overtaken()


@pytest.fixture
def table(store: Overtaken) -> DeltaTable:
    """Two files, and a third that was removed."""
    ruled = TableBuilder(store).property("delta.constraints.any", "n > 0")
    return ruled.rows(ROWS, ROWS).build()


class TestARestore:
    def test_does_not_miss_what_was_appended(self, store: Overtaken, table: DeltaTable):
        store.rival = lambda other: other.append(MORE)

        with pytest.raises(CommitConflictError) as caught:
            table.restore(1)

        assert caught.value.kind == "file-added"
        assert table.latest_version() == 3
        assert numbers(table) == [1, 1, 1, 2, 2, 3, 3]

    def test_follows_what_left_the_table_as_it_was(self, store, table):
        store.rival = lambda other: other.vacuum(
            dry_run=False, record_in_history=True, now=datetime(2000, 1, 1, tzinfo=UTC)
        )

        result = table.restore(1)

        assert result.rebased_over == (3, 4)
        assert numbers(table) == [1, 2, 3]


@cases(
    "rival",
    {
        "ours": lambda table: table.set_properties({"team": "blue"}),
        "words": lambda table: table.set_comment("words"),
        "of a column": lambda table: table.set_comment("words", "n"),
        "a column": lambda table: table.add_columns("new INT"),
        "a rule": lambda table: table.add_constraint("b", "n < 9"),
        "no rule": lambda table: table.drop_constraint("any"),
        "a rule for who changes rows": lambda table: table.set_properties(
            {"delta.appendOnly": "true"}
        ),
        "the protocol": lambda table: table.upgrade_protocol(writer=4),
        "the protocol and a property": lambda table: table.set_properties(
            {"delta.enableDeletionVectors": "true"}, upgrade=True
        ),
        "a feed": lambda table: table.set_properties(
            {"delta.enableChangeDataFeed": "true"}, upgrade=True
        ),
    },
)
def test_an_optimize_follows_what_its_rows_do_not_see(store, table, rival):
    store.rival = rival

    result = table.optimize()

    assert result.rebased_over == (3,)
    snapshot = table.snapshot()
    assert snapshot.num_files == 1
    assert numbers(table) == [1, 1, 2, 2, 3, 3]


@cases(
    "rival",
    {
        "a time in each commit": lambda table: table.set_properties(
            {"delta.enableInCommitTimestamps": "true"}, upgrade=True
        ),
        "ids of rows": lambda table: table.set_properties(
            {"delta.feature.rowTracking": "supported"}, upgrade=True
        ),
        "other columns": lambda table: table.overwrite(
            ROWS.rename_columns(["n", "b", "c"]), overwrite_schema=True
        ),
    },
)
def test_an_optimize_is_lost_to_what_its_files_may_not_fit(store, table, rival):
    store.rival = rival

    with pytest.raises(CommitConflictError):
        table.optimize()


WRITES = {
    "append": lambda table: table.append(MORE),
    "append again": lambda table: table.append(MORE, txn=("app", 1)),
    "delete": lambda table: table.delete("n = 1"),
    "update": lambda table: table.update({"s": "'new'"}, "n = 1"),
    "merge": lambda table: (
        table.merge(MORE, on="t.n = s.n").when_matched_update().execute()
    ),
    "overwrite": lambda table: table.overwrite(MORE),
    "overwrite some": lambda table: table.overwrite(MORE, where="n = 1"),
    "optimize": lambda table: table.optimize(),
    "restore": lambda table: table.restore(1),
    "set a property": lambda table: table.set_properties({"team": "blue"}),
    "add a column": lambda table: table.add_columns("new INT"),
    "add a rule": lambda table: table.add_constraint("b", "n < 9"),
}


RIVALS = {
    "versions": lambda table: table.upgrade_protocol(writer=4),
    "a feature": lambda table: table.set_properties(
        {"delta.feature.deletionVectors": "supported"}, upgrade=True
    ),
}


@by_turns({"write": WRITES, "rival": RIVALS})
def test_a_writer_follows_a_protocol_that_it_satisfies(store, table, rival, write):
    store.rival = rival

    result = write(table)

    assert (result.version, result.rebased_over) == (4, (3,))
    snapshot = table.snapshot()
    assert snapshot.protocol.min_writer_version >= 4
    assert snapshot.read().num_rows
