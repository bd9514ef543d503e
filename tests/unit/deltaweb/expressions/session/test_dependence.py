"""What of an expression depends on a session's zone, and what on its ANSI mode."""

import pyarrow as pa
import pytest

from deltaweb.conditions.sql_text import parse_sql, written
from deltaweb.delta.protocol.schema import schema_of_arrow
from deltaweb.expressions.session.dependence import Dependence
from deltaweb.expressions.session.settings import OURS, UNKNOWN, SessionSettings

SCHEMA = schema_of_arrow(
    pa.schema(
        [
            ("i", pa.int32()),
            ("l", pa.int64()),
            ("f", pa.float32()),
            ("x", pa.float64()),
            ("d", pa.decimal128(10, 2)),
            ("s", pa.string()),
            ("b", pa.bool_()),
            ("day", pa.date32()),
            ("t", pa.timestamp("us", "UTC")),
            ("w", pa.timestamp("us")),
            ("r", pa.struct([("q", pa.int32())])),
        ]
    )
)
NEW_YORK = SessionSettings(time_zone="America/New_York")
WITHOUT_ANSI = SessionSettings(is_ansi=False)

ON_NOTHING = [
    *("i < 5", "l = 5", "r.q > 1", "x < 1.5", "d <= 1.5", "d IN (1, 2.5)", "i > -1"),
    *("i IN (1, 2, 3)", "x IN (1.5, 2)", "s LIKE 'a%'", "s = 'a' OR NOT b", "b"),
    *("upper(s) = 'A'", "substring(s, 1, 2) = 'a'", "coalesce(s, 'x') = 'x'"),
    *("day > '2024-01-01'", "day = DATE '2024-01-01'", "year(day) = 2024", "w > day"),
    *("hour(w) = 1", "w > TIMESTAMP_NTZ '2024-01-01 00:00:00'", "t IS NULL"),
    *("t > TIMESTAMP '2024-01-01 00:00:00Z'", "t = '2024-01-01 01:00:00+02:00'"),
    *("isnotnull(t)", "CASE WHEN b THEN t ELSE t END = t", "CASE i WHEN 1 THEN b END"),
    *("if(b, i, l) = 3", "nvl2(t, i, 2) = 2", "i = NULL", "CAST(w AS DATE) = day"),
]
ON_THE_ZONE = [
    *("t > '2024-01-01'", "t > TIMESTAMP '2024-01-01'", "t > day", "t = w"),
    *("t IN ('2024-01-01 00:00:00Z', TIMESTAMP '2024-01-01')", "hour(t) = 1"),
    *("CAST(t AS DATE) = day", "CAST(w AS TIMESTAMP) = t", "datediff(t, day) > 1"),
    *("concat(s, t) = 'a'", "coalesce(t, day) = t", "t BETWEEN day AND t"),
]
ON_ANSI = [
    *("i IN ('01')", "i = '1'", "l > 16777216F", "f < 5", "i + 1 > 2", "i DIV 0 = 1"),
    *("CAST(l AS INT) = 1", "day IN ('2024-01-01')", "s = 1", "-i < 2", "abs(i) = 2"),
    *("coalesce(i, '1') = 1", "f IN (1, 2D)", "CAST(s AS BOOLEAN)", "x IN (f, l)"),
]


def on_what(sql: str) -> tuple[bool, bool]:
    zone, mode = (Dependence(SCHEMA, one).of(sql) for one in (NEW_YORK, WITHOUT_ANSI))
    return zone, mode


@pytest.mark.parametrize("sql", ON_NOTHING)
def test_what_has_one_value_in_every_session_depends_on_none(sql: str) -> None:
    assert on_what(sql) == (False, False)
    assert not Dependence(SCHEMA, UNKNOWN).of(sql)


@pytest.mark.parametrize("sql", ON_THE_ZONE)
def test_what_makes_an_instant_or_takes_it_apart_depends_on_the_zone(sql: str) -> None:
    assert on_what(sql)[0]
    assert Dependence(SCHEMA, UNKNOWN).of(sql)


@pytest.mark.parametrize("sql", ON_ANSI)
def test_what_may_have_no_value_or_no_one_type_depends_on_ansi_mode(sql: str) -> None:
    assert on_what(sql) == (False, True)


@pytest.mark.parametrize("sql", ["hash(i) = 1", "no SQL at all", "i >", "nobody = 1"])
def test_what_is_not_evaluated_here_depends_on_every_session_but_ours(sql: str) -> None:
    assert on_what(sql) == (True, True)
    assert not Dependence(SCHEMA, OURS).of(sql)


def test_all_depends_on_a_session_of_unusual_settings() -> None:
    unusual = SessionSettings(is_usual=False)

    assert Dependence(SCHEMA, unusual).of("i < 5")
    assert Dependence(SCHEMA, unusual).without(parse_sql("i < 5")) is None


@pytest.mark.parametrize("name", ["UTC", "Etc/UTC", "Z", "GMT", "+00:00"])
def test_utc_has_many_names(name: str) -> None:
    assert SessionSettings(time_zone=name).are_ours


@pytest.mark.parametrize(
    ("column", "sql", "depends"),
    [
        ("w", "t", True),
        ("t", "day", True),
        ("t", "TIMESTAMP '2024-01-01 00:00:00'", True),
        ("t", "t", False),
        ("w", "day", False),
        ("t", "NULL", False),
        ("i", "l", False),
    ],
)
def test_a_value_depends_on_the_zone_by_the_column_that_takes_it(
    column: str, sql: str, *, depends: bool
) -> None:
    field = SCHEMA.find(column)
    assert field is not None

    assert Dependence(SCHEMA, NEW_YORK).of_value(sql, field) is depends


@pytest.mark.parametrize(
    ("sql", "settings", "known"),
    [
        ("i < 5 AND i + 1 > 2", WITHOUT_ANSI, "i < 5"),
        ("(i < 5 OR i = '7') AND (s = 'a' OR b)", WITHOUT_ANSI, "s = 'a' OR b"),
        ("i < 5 AND hour(t) = 1 AND b", NEW_YORK, "i < 5 AND b"),
        ("i < 5 OR hour(t) = 1", NEW_YORK, None),
        ("NOT (i < 5 AND hour(t) = 1)", NEW_YORK, None),
        ("t >= '2024-03-10'", UNKNOWN, None),
        ("t IN (TIMESTAMP '2024-03-10', '2024-03-10')", UNKNOWN, None),
    ],
)
def test_a_condition_without_what_depends_holds_wherever_it_does(sql, settings, known):
    found = Dependence(SCHEMA, settings).without(parse_sql(sql))

    assert (None if found is None else written(found[0].tree)) == known
    assert found is None or not found[1]


@pytest.mark.parametrize(
    ("sql", "known"),
    [
        ("t >= '2024-03-10'", "t >= CAST('2024-03-10T05:00:00Z' AS TIMESTAMP)"),
        ("t >= '2060-07-01'", "t >= CAST('2060-07-01T04:00:00Z' AS TIMESTAMP)"),
        (
            "NOT TIMESTAMP '2024-03-10 02:30:00' < t",  # which no clock shows
            "NOT CAST('2024-03-10T07:30:00Z' AS TIMESTAMP) < t",
        ),
        (
            "t BETWEEN DATE '2024-11-03' AND NULL",
            "t BETWEEN CAST('2024-11-03T04:00:00Z' AS TIMESTAMP) AND NULL",
        ),
        (
            "t = '2024-11-03 01:30:00'",  # the first of two
            "t = CAST('2024-11-03T05:30:00Z' AS TIMESTAMP)",
        ),
        ("w >= '2024-03-10'", "w >= '2024-03-10'"),
    ],
)
def test_a_literal_time_beside_an_instant_is_one_of_the_zone(sql: str, known: str):
    found = Dependence(SCHEMA, NEW_YORK).without(parse_sql(sql))

    assert found is not None
    assert (written(found[0].tree), found[1]) == (known, True)


def test_in_a_list_without_ansi_mode_a_text_stays_one() -> None:
    settings = SessionSettings(time_zone="America/New_York", is_ansi=False)
    dependence = Dependence(SCHEMA, settings)

    assert dependence.without(parse_sql("t IN ('2024-03-10')")) is None
    assert dependence.without(parse_sql("t IN (DATE '2024-03-10')")) is not None
