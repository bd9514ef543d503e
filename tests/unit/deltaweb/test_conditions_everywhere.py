"""What one place takes as a condition all take, and with the same rows."""

import re
from collections.abc import Callable
from contextlib import nullcontext
from datetime import date
from typing import TypeAlias

import pyarrow as pa
import pytest

from deltaweb.delta.writing.errors import ConstraintViolatedError
from deltaweb.expressions.condition import SQLCondition
from deltaweb.expressions.errors import ExpressionError, ExpressionValueError
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.table import DeltaTable
from tests.support import by_turns, cases
from tests.support.pages.shared_tables import signed
from tests.support.tables.table_builder import TableBuilder

pytestmark = pytest.mark.slow

ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3, 4, 5, None], pa.int64()),
        "country": pa.array(["DE", "de", "FR", "DE", None, "FR"]),
        "total": pa.array([10.0, 1.5, float("nan"), None, 5.0, 7.0]),
        "day": [
            *(date(2026, 1, 31), date(2026, 1, 1), date(2025, 12, 31)),
            *(None, date(2025, 1, 1), date(2027, 3, 1)),
        ],
        "note": pa.array(["a%", "ab", None, "", "b", "A"]),
        "row": pa.array(range(6), pa.int32()),
    }
)
Place: TypeAlias = Callable[[DeltaTable, str], set[int]]
CONDITIONS: dict[str, tuple[str, set[int]]] = {
    "a function of a partition": ("upper(country) = 'DE'", {0, 1, 3}),
    "partitions": ("country IS NULL OR country > 'a'", {1, 4}),
    "arithmetic": ("id + 1 > 5", {4}),
    "two columns, one a NaN": ("total > id", {0, 2}),
    "NaN equals itself": ("total = total", {0, 1, 2, 4, 5}),
    "a part of a day": ("year(day) = 2026", {0, 1}),
    "a day as Spark reads it": ("day > '2026-1-1'", {0, 5}),
    "a time as a day": ("day < '2026-01-01 12:00:00'", {2, 4}),
    "a choice": ("coalesce(note, 'none') = 'none'", {2}),
    "a denial": ("NOT (note LIKE 'a%')", {3, 4, 5}),
    "an escape": (r"note LIKE 'a\\%'", {0}),
    "letters of either case": ("note ILIKE 'a_'", {0, 1}),
    "a list": ("id IN (1, '3', NULL)", {0, 2}),
    "a list that denies nothing": ("id NOT IN (1, NULL)", set()),
    "columns as ends": ("5 BETWEEN id AND total", {0, 2, 4}),
    "null-safe": ("id <=> NULL", {5}),
    "every row": ("TRUE", {0, 1, 2, 3, 4, 5}),
}
READS: dict[str, Place] = {
    "read": lambda table, sql: rows(table.snapshot().read(["row"], sql)),
    "scan": lambda table, sql: {
        row
        for batch in table.snapshot().scan(["row"], sql)
        for row in batch["row"].to_pylist()
    },
    "changes": lambda table, sql: rows(table.changes(predicate=sql).read_all()),
    "a dry run": lambda table, sql: rows(table.plan_delete(sql).before),
    "update": lambda table, sql: rows(table.plan_update({"id": "0"}, sql).before),
}
CHANGES: dict[str, Place] = {
    "delete": lambda table, sql: left_by(table, lambda: table.delete(sql)),
    "overwrite": lambda table, sql: left_by(
        table, lambda: table.overwrite(ROWS.slice(0, 0), where=sql)
    ),
    "merge": lambda table, sql: left_by(
        table,
        lambda: (
            table.merge(ROWS.select(["row"]), on="t.row = s.row")
            .when_matched_delete(condition=sql_of_target(sql))
            .execute()
        ),
    ),
}


def rows(found: pa.Table) -> set[int]:
    return set(found["row"].to_pylist())


def left_by(table: DeltaTable, change: Callable[[], object]) -> set[int]:
    """The rows that are gone after a change."""
    change()
    return set(range(6)) - rows(table.snapshot().read(["row"]))


def sql_of_target(sql: str) -> str:
    for name in ("id", "country", "total", "day", "note"):
        sql = re.sub(rf"\b{name}\b(?!\()", f"t.{name}", sql)
    return sql


def new() -> DeltaTable:
    """A file a partition; changes are recorded."""
    fed = TableBuilder().property("delta.enableChangeDataFeed")
    return fed.partitioned_by("country").rows(ROWS).build()


@pytest.fixture(scope="module")
def table() -> DeltaTable:
    """One that nothing changes."""
    return new()


@by_turns({"place": READS, "sql, expected": CONDITIONS})
def test_finds_the_same_rows(table, place, sql, expected):
    assert place(table, sql) == expected


@by_turns({"place": CHANGES, "sql, expected": CONDITIONS})
def test_changes_the_same_rows(place: Place, sql: str, expected: set[int]) -> None:
    assert place(new(), sql) == expected


@cases("sql, expected", CONDITIONS)
def test_a_constraint_holds_where_no_row_is_denied(sql: str, expected: set[int]):
    is_held = len(expected) == ROWS.num_rows
    with nullcontext() if is_held else pytest.raises(ConstraintViolatedError):
        new().add_constraint("c", sql, upgrade=True)


@pytest.mark.parametrize(("sql", "expected"), [*CONDITIONS.values()][:2])
def test_a_share_offers_the_files_of_a_condition_on_partitions(table, sql, expected):
    version = SharedTableReader().open_version(table, index_folder=None)

    chosen = signed(version, SQLCondition(sql, version.schema)).select()

    offered = {p for batch in chosen.batches() for p in batch["path"].to_pylist()}
    files = table.snapshot().files
    is_offered = pa.array([path in offered for path in files["path"].to_pylist()])
    found = table.snapshot().file_rows(files.filter(is_offered))
    assert {row for batch in found for row in batch["row"].to_pylist()} == expected


@cases(
    "sql, words",
    {
        "what is another each time": ("rand() > 0.5", "rand"),
        "what nobody knows": ("my_function(id) = 1", "my_function"),
        "no column": ("nothing = 1", "no column"),
        "no SQL": ("id =", "not SQL"),
    },
)
@pytest.mark.parametrize("place", [*READS, "delete", "overwrite"])
def test_names_what_is_not_evaluated_here(table, place, sql, words):
    with pytest.raises(ExpressionError, match=words):
        (READS | CHANGES)[place](table, sql)


def test_a_function_of_a_partition_opens_its_files_alone(table: DeltaTable) -> None:
    scan = table.snapshot().scan(["row"], "upper(country) = 'DE'")

    assert {row for batch in scan for row in batch["row"].to_pylist()} == {0, 1, 3}
    assert (scan.files_selected, scan.files_total) == (2, 4)


def test_a_partition_without_a_value_fails_where_its_rows_are_read() -> None:
    table = TableBuilder().partitioned_by("p").rows(n=[1, 2], p=[2, 0]).build()
    snapshot = table.snapshot()

    assert snapshot.read(predicate="p <> 0 AND 4 / p = 2").num_rows == 1
    with pytest.raises(ExpressionValueError):
        snapshot.read(predicate="4 / p = 2")
