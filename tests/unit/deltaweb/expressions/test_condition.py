"""A condition judges rows as Spark does, wherever it is written, and travels."""

import math
import pickle
from datetime import date

import pyarrow as pa
import pytest

from deltaweb.delta.protocol.schema import schema_of_arrow
from deltaweb.delta.scan.predicate import Comparison
from deltaweb.expressions.condition import SQLCondition
from deltaweb.expressions.errors import ExpressionMistakenError, ExpressionValueError
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.tables.table_builder import TableBuilder

ROWS = pa.table(
    {
        "row": [0, 1, 2, 3],
        "f": pa.array([0.1, math.nan, 1000.0, None], pa.float32()),
        "i": pa.array([1, 2, None, 16777217], pa.int32()),
        "n": [1, None, 3, 2**53 + 1],
        "day": [date(2026, 1, 1), None, date(2026, 1, 31), date(1, 1, 1)],
        "s": ["ÄB", "ab", None, "1.5"],
    }
)
SCHEMA = schema_of_arrow(ROWS.schema)


@pytest.fixture(scope="module")
def table() -> DeltaTable:
    """A file for each row."""
    rows = (ROWS.slice(start, 1) for start in range(ROWS.num_rows))
    return TableBuilder().rows(*rows).build()


@cases(
    "sql, rows",
    {
        "a float is no decimal": ("f = 0.1", []),
        "but a float": ("f = 0.1F", [0]),
        "also by a cast": ("f = CAST(0.1 AS FLOAT)", [0]),
        "NaN is above all numbers": ("f > 5", [1, 2]),
        "and equals itself": ("f = 'NaN'", [1]),
        "in a list as well": ("f IN (1e3, 'NaN')", [1, 2]),
        "and denied": ("NOT f <= 1D", [1, 2]),
        "an exponent": ("f = 1e3", [2]),
        "a day of few digits": ("day = '2026-1-1'", [0]),
        "a year for its first day": ("day > '2026'", [2]),
        "a time for its day": ("day >= '2026-01-31 12:00:00'", [2]),
        "letters beyond ASCII": ("s ILIKE 'äb'", [0]),
        "a list of one type": ("'01' IN (i, n)", [0]),
        "also where it rounds": ("n IN (5D, 9007199254740992)", [3]),
        "a number in quotes": ("i = '16777217'", [3]),
        "a float beside an int: as doubles": ("i = 16777217F", []),
    },
)
def test_what_is_read_is_what_is_deleted(table: DeltaTable, sql: str, rows: list[int]):
    assert table.snapshot().read(["row"], sql)["row"].to_pylist() == rows
    assert table.plan_delete(sql).before["row"].to_pylist() == rows


def test_a_row_without_a_value_is_an_error_of_the_reader(table: DeltaTable) -> None:
    with pytest.raises(ExpressionValueError, match="ÄB"):
        table.snapshot().read(predicate="CAST(s AS INT) = 1")


def test_a_text_that_is_no_value_is_refused_before_a_file_is_opened(table: DeltaTable):
    with pytest.raises(
        ExpressionMistakenError, match="'2026-02-30' is not a valid date"
    ):
        table.snapshot().scan(predicate="day = '2026-02-30'")


def test_only_the_columns_that_are_named_are_looked_at() -> None:
    condition = SQLCondition("DAY > '2026' AND `f` < 1", SCHEMA)

    assert condition.names == {"day", "f"}
    assert SQLCondition("1 = 1", SCHEMA).names == frozenset()


def test_files_are_left_out_by_what_is_sure() -> None:
    known = SQLCondition("n > 5", SCHEMA).reach
    unknown = SQLCondition("n + 1 > 5", SCHEMA).reach

    assert known == Comparison(("n",), ">", pa.scalar(5))
    assert unknown is None


def test_a_condition_travels_to_another_process() -> None:
    condition = pickle.loads(pickle.dumps(SQLCondition("i = 1", SCHEMA)))  # noqa: S301 # our own
    [batch] = ROWS.to_batches()

    assert condition.holds(batch).to_pylist() == [True, False, False, False]
