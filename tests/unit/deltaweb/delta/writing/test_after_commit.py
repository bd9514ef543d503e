"""Checkpoints that commits bring about."""

import logging
import threading
from collections.abc import Callable
from typing import Any, NoReturn

import pyarrow as pa
import pytest

from deltaweb.delta.writing.after_commit import (
    checkpoints,
    checkpoints_behind,
    is_checkpoint_due,
    wait_for_checkpoints,
)
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.stores.memory import MemoryTableStore
from tests.support.tables.table_builder import TableBuilder

ROW = pa.table({"n": [1]})
OFTEN = TableBuilder().columns(n="long").property("delta.checkpointInterval", "1")


def found(table: DeltaTable) -> list[str]:
    names = table.store.list_names_from("")
    return [name for name in names if name.endswith(".checkpoint.parquet")]


@pytest.mark.parametrize(
    ("version", "interval", "is_due"),
    [
        (0, None, False),
        (9, None, False),
        (10, None, True),
        (20, "10", True),
        (3, "3", True),
        (10, "0", True),
        (10, "soon", True),
        (10, "9" * 5_000, True),
    ],
)
def test_a_checkpoint_is_due_after_every_so_many_commits(version, interval, is_due):
    said = {} if interval is None else {"delta.checkpointInterval": interval}

    assert is_checkpoint_due(version, said) is is_due


def test_the_tenth_commit_brings_one() -> None:
    table = TableBuilder().build()
    for _ in range(9):
        table.append(ROW)
    assert found(table) == []

    table.append(ROW)

    assert found(table) == ["00000000000000000010.checkpoint.parquet"]
    assert table.snapshot().num_files == 10


def test_a_table_says_after_how_many() -> None:
    table = TableBuilder().property("delta.checkpointInterval", "2").rows(ROW).build()
    table.set_comment("rows")

    assert found(table) == ["00000000000000000002.checkpoint.parquet"]


def test_one_that_fails_leaves_the_commit(monkeypatch, caplog):
    def full(*_: object) -> NoReturn:
        message = "no room"
        raise OSError(message)

    monkeypatch.setattr(MemoryTableStore, "begin_file", full)
    table = OFTEN.build()

    with caplog.at_level(logging.WARNING):
        result = table.append(ROW)
        assert found(table) == []

    assert result.version == 1
    assert "the checkpoint of version 1 of" in caplog.text


class HeldStore(MemoryTableStore):
    """One whose checkpoints wait until they are let on, and tell who writes them."""

    def __init__(self) -> None:
        super().__init__()
        self.may_go_on = threading.Event()
        self.writers: list[threading.Thread] = []

    def begin_file(self, name: str) -> Any:  # noqa: ANN401 (what a store answers)
        assert self.may_go_on.wait(60)
        self.writers.append(threading.current_thread())
        return super().begin_file(name)


@pytest.fixture
def store() -> HeldStore:
    return HeldStore()


@pytest.fixture
def held(store: HeldStore) -> DeltaTable:
    return OFTEN.at(store).build()


def test_it_is_written_by_who_commits(held: DeltaTable, store: HeldStore) -> None:
    store.may_go_on.set()

    held.append(ROW)

    assert found(held) == ["00000000000000000001.checkpoint.parquet"]
    assert store.writers == [threading.current_thread()]


def test_or_in_the_background_while_the_commit_stands(held, store):
    with checkpoints("background"):
        held.append(ROW)
        held.append(ROW)  # the table's last is still being written
        assert found(held) == []
        store.may_go_on.set()
        wait_for_checkpoints()

    assert found(held) == ["00000000000000000001.checkpoint.parquet"]
    assert store.writers != [threading.current_thread()]


def test_or_never(held: DeltaTable) -> None:
    with checkpoints("never"):
        held.append(ROW)

    assert found(held) == []


def test_what_was_said_around_a_block_holds_where_it_says_nothing(held: DeltaTable):
    with checkpoints("never"), checkpoints(None):
        held.append(ROW)

    assert found(held) == []


def test_who_lets_them_be_written_behind_waits_at_the_end(held, store):
    with checkpoints_behind():
        held.append(ROW)
        assert found(held) == []
        store.may_go_on.set()

    assert found(held) == ["00000000000000000001.checkpoint.parquet"]


def test_no_other_time_is_known(held: DeltaTable) -> None:
    with pytest.raises(ValueError, match="'later'"), checkpoints("later"):  # type: ignore[arg-type]  # as somebody may
        held.append(ROW)


@cases(
    "write",
    {
        "append": lambda table: table.append(ROW, checkpoint="never"),
        "overwrite": lambda t: t.overwrite(ROW, checkpoint="never"),
        "delete": lambda t: t.delete("n = 1", checkpoint="never"),
        "update": lambda t: t.update({"n": "2"}, checkpoint="never"),
        "merge": lambda table: (
            table.merge(ROW, on="t.n = s.n", checkpoint="never")
            .when_matched_delete()
            .execute()
        ),
        "optimize": lambda t: t.optimize(checkpoint="never"),
        "comment": lambda t: t.set_comment("n", checkpoint="never"),
        "add constraint": lambda table: table.add_constraint(
            "c", "n > 0", upgrade=True, checkpoint="never"
        ),
        "restore": lambda t: t.restore(0, checkpoint="never"),
    },
)
def test_whatever_writes_is_told_when(write: Callable[[DeltaTable], object]) -> None:
    table = OFTEN.build()
    for _ in range(2):
        table.append(ROW, checkpoint="never")

    write(table)

    assert table.latest_version() == 3
    assert found(table) == []
