"""Checkpoints that commits bring about."""

import logging
from typing import NoReturn

import pyarrow as pa
import pytest

from deltaweb.delta.writing.after_commit import (
    is_checkpoint_due,
    wait_for_checkpoints,
)
from deltaweb.storage.memory import MemoryTableStore
from deltaweb.table import DeltaTable
from tests.support.tables.written_rows import new_table

ROW = pa.table({"n": [1]})


def checkpoints(table: DeltaTable) -> list[str]:
    wait_for_checkpoints()
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
def test_a_checkpoint_is_due_after_every_so_many_commits(
    version: int,
    interval: str | None,
    is_due: bool,  # noqa: FBT001 (a case)
) -> None:
    said = {} if interval is None else {"delta.checkpointInterval": interval}

    assert is_checkpoint_due(version, said) is is_due


def test_the_tenth_commit_brings_one() -> None:
    table = new_table()
    for _ in range(9):
        table.append(ROW)
    assert checkpoints(table) == []

    table.append(ROW)

    assert checkpoints(table) == ["00000000000000000010.checkpoint.parquet"]
    assert table.snapshot().num_files == 10


def test_a_table_says_after_how_many() -> None:
    table = new_table(**{"delta.checkpointInterval": "2"})
    table.append(ROW)
    table.set_comment("rows")

    assert checkpoints(table) == ["00000000000000000002.checkpoint.parquet"]


def test_one_that_fails_leaves_the_commit(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> NoReturn:
        message = "no room"
        raise OSError(message)

    monkeypatch.setattr(MemoryTableStore, "begin_file", full)
    table = new_table(**{"delta.checkpointInterval": "1"})

    with caplog.at_level(logging.WARNING):
        result = table.append(ROW)
        assert checkpoints(table) == []

    assert result.version == 1
    assert "no checkpoint of version 1" in caplog.text
