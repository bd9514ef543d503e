"""Appends in a row know the table, and find out when others have changed it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.delta.snapshot.state import Definition, load_definition
from deltaweb.delta.writing.errors import ConstraintViolatedError
from deltaweb.table import DeltaTable
from deltaweb.writer import append

ROWS = pa.table({"x": pa.array([1], pa.int64())})


@pytest.fixture
def location(tmp_path: Path) -> str:
    return str(tmp_path / "t")


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The versions that were read of the log."""
    found: list[int] = []
    load = load_definition

    def loaded(store: TableStore) -> Definition:
        definition = load(store)
        found.append(definition.version)
        return definition

    monkeypatch.setattr(append, "load_definition", loaded)
    return found


def num_rows(location: str) -> int:
    return sum(batch.num_rows for batch in DeltaTable(location).snapshot().scan())


def test_the_log_is_read_once(location: str, loads: list[int]) -> None:
    table = DeltaTable.create(location, ROWS.schema)

    results = [table.append(ROWS) for _ in range(4)]

    assert [result.version for result in results] == [1, 2, 3, 4]
    assert loads == [0]
    assert num_rows(location) == 4


def test_rows_of_another_leave_it_known(location: str, loads: list[int]) -> None:
    table = DeltaTable.create(location, ROWS.schema)
    table.append(ROWS)
    DeltaTable(location).append(ROWS)

    result = table.append(ROWS)

    assert (result.version, result.rebased_over) == (3, ())
    assert loads == [0, 1]  # of the two tables


def test_it_is_read_again_after_many_commits_of_another(location, loads, monkeypatch):
    monkeypatch.setattr(append, "MAX_COMMITS_FOLLOWED", 2)
    table, other = DeltaTable.create(location, ROWS.schema), DeltaTable(location)
    table.append(ROWS)
    for _ in range(3):
        other.append(ROWS)

    result = table.append(ROWS)

    assert (result.version, result.rebased_over) == (5, ())
    assert loads == [0, 1, 4]


def test_it_is_read_again_when_another_changes_what_holds(location, loads):
    table = DeltaTable.create(location, ROWS.schema)
    table.append(ROWS)
    DeltaTable(location).set_properties({"delta.checkpointInterval": "3"})

    result = table.append(ROWS)

    assert (result.version, result.rebased_over) == (3, ())
    assert loads == [0, 2]


def test_it_is_known_after_giving_way(location: str, loads: list[int]) -> None:
    table = DeltaTable.create(location, ROWS.schema)

    def rows() -> Iterator[pa.RecordBatch]:
        DeltaTable(location).append(ROWS)
        yield from ROWS.to_batches()

    late = table.append(pa.RecordBatchReader.from_batches(ROWS.schema, rows()))

    assert (late.version, late.rebased_over) == (2, (1,))
    assert table.append(ROWS).version == 3
    assert loads == [0, 0]


def test_a_constraint_of_another_holds_for_the_next_rows(location: str) -> None:
    table = DeltaTable.create(location, ROWS.schema)
    table.upgrade_protocol(writer=3)
    table.append(ROWS)
    DeltaTable(location).add_constraint("small", "x < 2")

    with pytest.raises(ConstraintViolatedError):
        table.append(pa.table({"x": pa.array([2], pa.int64())}))


def test_a_schema_that_grew_is_known(location: str, loads: list[int]) -> None:
    table = DeltaTable.create(location, ROWS.schema)
    wider = ROWS.append_column("y", pa.array(["a"]))
    table.append(wider, merge_schema=True)

    table.append(wider)

    assert table.snapshot().schema.names == ("x", "y")
    assert num_rows(location) == 2
    assert loads == [0]


def test_rows_that_are_numbered_leave_it_known(location: str, loads: list[int]) -> None:
    columns = parse_columns_ddl("id BIGINT GENERATED ALWAYS AS IDENTITY, x BIGINT")
    store = DeltaTable.create(location, StructType(columns)).store
    known = append.KnownDefinition(store)

    for _ in range(3):
        append.append_rows(store, ROWS, known=known)

    assert known.newest() == load_definition(store)
    assert loads == [0]
    ids = DeltaTable(location).snapshot().read()["id"].to_pylist()
    assert sorted(ids) == [1, 2, 3]


def test_numbers_that_another_gave_are_not_given_again(location: str, loads: list[int]):
    columns = parse_columns_ddl("id BIGINT GENERATED ALWAYS AS IDENTITY, x BIGINT")
    table, other = (
        DeltaTable.create(location, StructType(columns)),
        DeltaTable(location),
    )

    for appender in (table, other, table):
        appender.append(ROWS)

    assert loads == [0, 1, 2]
    ids = DeltaTable(location).snapshot().read()["id"].to_pylist()
    assert sorted(ids) == [1, 2, 3]


def test_a_table_that_was_made_anew_is_another(location: str) -> None:
    table = DeltaTable.create(location, ROWS.schema)
    table.append(ROWS)
    shutil.rmtree(location)
    other = pa.table({"z": ["a"]})
    DeltaTable.create(location, other.schema).append(other)

    table.append(other)

    assert num_rows(location) == 2
