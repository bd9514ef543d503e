"""Why a part of a condition cannot skip files, and what to write instead."""

from datetime import UTC, date, datetime, time, timedelta

import pyarrow as pa
import pytest

from deltaweb.conditions.remedies import Obstacle, obstacle_of
from deltaweb.conditions.sql import conjuncts
from deltaweb.conditions.sql_text import parse_sql
from deltaweb.delta.protocol.schema import schema_of_arrow
from deltaweb.expressions.condition import SQLCondition
from tests.support import cases

DAYS = [date(2025, 12, 30) + timedelta(days=n) for n in range(5)]
ROWS = pa.record_batch(
    {
        "day": [*DAYS, None],
        "at": pa.array(
            [datetime.combine(day, time(23, 59), UTC) for day in DAYS] + [None],
            pa.timestamp("us", "UTC"),
        ),
        "id": [1, 2, 5, 50, None, -5],
        "code": ["DE1", "DE", "de", None, "FDE", ""],
    }
)
SCHEMA = schema_of_arrow(ROWS.schema)


def obstacle(sql: str) -> Obstacle:
    ((_, part),) = conjuncts(parse_sql(sql))
    return obstacle_of(part, SCHEMA)


REWRITTEN = {
    "CAST(day AS STRING) >= '2026-01-01'": "day >= DATE '2026-01-01'",
    "'2026-01-01' > CAST(day AS STRING)": "day < DATE '2026-01-01'",
    "CAST(at AS DATE) < '2026-01-01'": "at < TIMESTAMP '2026-01-01 00:00:00'",
    "CAST(at AS DATE) > DATE '2025-12-31'": "at >= TIMESTAMP '2026-01-01 00:00:00'",
    "to_date(at) <= '2025-12-31'": "at < TIMESTAMP '2026-01-01 00:00:00'",
    "CAST(at AS DATE) = '2025-12-31'": (
        "at >= TIMESTAMP '2025-12-31 00:00:00' AND at < TIMESTAMP '2026-01-01 00:00:00'"
    ),
    "year(day) = 2026": "day >= DATE '2026-01-01' AND day < DATE '2027-01-01'",
    "year(day) != 2026": "(day < DATE '2026-01-01' OR day >= DATE '2027-01-01')",
    "NOT year(day) = 2026": (
        "NOT (day >= DATE '2026-01-01' AND day < DATE '2027-01-01')"
    ),
    "year(day) > 2025 OR id = 1": "day >= DATE '2026-01-01' OR id = 1",
    "CAST(id AS STRING) = '5'": "id = 5",
    "CAST(id AS STRING) != '-5'": "id <> -5",
    "substring(code, 1, 2) = 'DE'": "code LIKE 'DE%'",
    "substring(code, 1, 2) != 'DE'": "NOT code LIKE 'DE%'",
}


@pytest.mark.parametrize("sql", REWRITTEN)
def test_a_hidden_column_is_compared_itself(sql: str):
    assert obstacle(sql).suggestion in {
        REWRITTEN[sql],
        REWRITTEN[sql].replace("<>", "!="),
        REWRITTEN[sql].replace("NOT code LIKE", "code NOT LIKE"),
    }


@pytest.mark.parametrize("sql", REWRITTEN)
def test_what_is_suggested_is_true_for_the_same_rows(sql: str):
    suggested = SQLCondition(obstacle(sql).suggestion, SCHEMA)

    assert suggested.reach is not None
    assert suggested.holds(ROWS).equals(SQLCondition(sql, SCHEMA).holds(ROWS))


@pytest.mark.parametrize(
    "sql",
    [
        "CAST(id AS STRING) > '5'",  # compares texts: '10' is below '5'
        "CAST(id AS STRING) = '05'",
        "CAST(code AS INT) = 5",  # true for '05', too
        "CAST(day AS STRING) = '2026-1-1'",
        "CAST(at AS STRING) >= '2026-01-01'",
        "year(day) = 0",
        "year(day) = 9999",
        "CAST(at AS DATE) <= '9999-12-31'",
        "substring(code, 2, 2) = 'DE'",
        "substring(code, 1, 3) = 'DE'",
        "substring(code, 1, 2) = 'D%'",
        "upper(code) = 'DE'",
        "CAST(nothing AS STRING) = '5'",
    ],
)
def test_nothing_is_suggested_that_may_be_true_for_other_rows(sql: str):
    assert not obstacle(sql).suggestion


@cases(
    "sql, reason",
    {
        "a cast": ("CAST(code AS INT) = 5", "the cast prevents skipping by `code`"),
        "arithmetic": ("(id + 1) * 2 > 5", "the arithmetic prevents skipping by `id`"),
        "a function": (
            "upper(code) = 'DE'",
            "the function upper prevents skipping by `code`",
        ),
        "the outermost function": (
            "upper(trim(code)) = 'DE'",
            "the function upper prevents skipping by `code`",
        ),
        "concatenation": (
            "code || 'x' = 'y'",
            "the concatenation prevents skipping by `code`",
        ),
        "a wildcard": (
            "code LIKE '%DE'",
            "the pattern for `code` begins with a wildcard",
        ),
        "two columns": ("id = code", "a comparison of two columns cannot skip files"),
        "in one of two": (
            "id = 1 OR upper(code) = 'DE'",
            "the function upper prevents skipping by `code`",
        ),
    },
)
def test_what_hides_the_column_is_named(sql: str, reason: str):
    assert obstacle(sql).reason == reason
