"""What an expression makes of a row is known, and small, before Spark evaluates it."""

import pytest

from deltaweb.conditions.sql_text import parse_sql
from deltaweb.expressions.errors import ExpressionMistakenError, ExpressionTooLargeError
from deltaweb.expressions.growth import refuse_growth
from tests.support import cases

MILLION = "least(n, 1000000)"


@pytest.mark.parametrize(
    "sql",
    [
        "lpad(s, 2000000000, 'x') = 'x'",
        "`rpad`(s, 2000000000) = 'x'",
        "lpad(s, CAST('2000000000' AS INT)) = 'x'",
        "lpad(s, 1000 * 1000 * 1000) = 'x'",
        "lpad(s, length(s) * 1000000) = 'x'",
        "lpad(s, 2e9) = 'x'",
        "length(space(2000000000)) > 1",
        "repeat(s, 2000000000) = 'x'",
        "repeat(s, -(-2000000000)) = 'x'",
        "repeat(repeat(repeat(s, 1000), 1000), 1000) = 'x'",
        "repeat(s, CASE WHEN n = 1 THEN 2000000000 ELSE 1 END) = 'x'",
        "repeat(s, if(n = 1, 2000000000, 1)) = 'x'",
        "repeat(s, greatest(1, 2000000000)) = 'x'",
        f"repeat(s, {MILLION}) = 'x'",
        "array_repeat(s, 2000000000)[0] = 'x'",
        "size(sequence(1, 2000000000)) > 1",
        "size(sequence(-2000000000, 0)) > 1",
        "size(sequence(1, 1000000, 0.01)) > 1",
        "array_insert(many, 2000000000, 1)[0] = 1",
        "array_insert(many, -2000000000, 1)[0] = 1",
        "format_string('%2000000000d', n) = 'x'",
        "printf('%.2000000000f', n) = 'x'",
        "format_number(n, 2000000000) = 'x'",
        "round(n, 2000000000) = 1",
        "bround(n, -2000000000) = 1",
        "ceil(n, 2000000000) = 1",
        "replace(repeat(s, 1000), 'a', repeat(s, 1000)) = 'x'",
        "regexp_replace(repeat('a', 10000), 'a', repeat('b', 10000)) = 'x'",
        f"regexp_replace(repeat('a', 100000), '(a*)', '{'$1' * 200}') = 'x'",
        "array_join(array_repeat(s, 10000), rpad('x', 100000)) = 'x'",
        "concat_ws(repeat('x', 100000), array_repeat('a', 100000)) = 'x'",
        "transform(sequence(1, 1000), x -> repeat('x', 100000))[0] = 'x'",
        "size(transform(sequence(1, 10000), x -> sequence(1, 10000))) > 1",
        "exists(sequence(1, 10000), x -> repeat('x', 10000) = s)",
        "aggregate(sequence(1, 40), 'x', (a, x) -> concat(a, a)) = 'x'",
        "aggregate(sequence(1, 40), s, (a, x) -> repeat(a, 2)) = 'x'",
        "aggregate(many, 0, (a, x) -> a, a -> rpad('x', 20000000)) = 'x'",
        f"{'hex(' * 15}rpad(s, 1000){')' * 15} = 'x'",
    ],
)
def test_what_makes_too_much_of_a_row_is_refused(sql: str) -> None:
    with pytest.raises(ExpressionTooLargeError, match="the limit is 1,048,576"):
        refuse_growth(sql, parse_sql(sql).tree)


@cases(
    "sql, function",
    {
        "a padded text": ("rpad(s, n, 'x') = 'x'", "lpad or rpad"),
        "a repeated text": ("repeat(s, shiftleft(1, 30)) = 'x'", "repeat"),
        "blanks": ("length(space(n)) > 1", "space"),
        "elements": ("size(array_repeat(s, n)) > 1", "array_repeat"),
        "numbers": ("size(sequence(1, n)) > 1", "sequence"),
        "steps": ("size(sequence(1, 10, n)) > 1", "sequence"),
        "seconds": (
            "size(sequence(TIMESTAMP '2000-01-01', now(), INTERVAL 1 SECOND)) > 1",
            "sequence",
        ),
        "a place": ("array_insert(many, n, 1)[0] = 1", "array_insert"),
        "a format": ("printf(s, n) = 'x'", "printf"),
        "digits": ("round(d, n) = 1", "round"),
        "in a lambda": ("exists(many, x -> repeat(s, x) = 'x')", "repeat"),
    },
)
def test_what_grows_by_values_is_refused(sql: str, function: str) -> None:
    with pytest.raises(
        ExpressionMistakenError, match=f"how much {function} makes of a row is not"
    ):
        refuse_growth(sql, parse_sql(sql).tree)


@pytest.mark.parametrize(
    "sql",
    [
        " || ".join(["s"] * 5000),
        " + ".join(["n"] * 200) + " > 1",
        "n" + "::INT" * 200 + " = 1",
        "m" + "[0]" * 200 + " = 1",
        " AND ".join(f"(n = {n} OR n" for n in range(19)) + "+1" * 150 + ")" * 19,
    ],
)
def test_what_is_too_high_is_refused(sql: str) -> None:
    with pytest.raises(ExpressionMistakenError, match="more than 150 operators"):
        refuse_growth(sql, parse_sql(sql).tree)


def test_lambdas_in_lambdas_are_looked_at_so_often() -> None:
    """The lambda of an aggregate is looked at twice, and so is what is in it."""
    sql = "a"
    for _ in range(17):
        sql = f"aggregate(array(1), 0, (a, x) -> {sql})"

    with pytest.raises(ExpressionMistakenError, match="are too many"):
        refuse_growth(sql, parse_sql(sql).tree)


@pytest.mark.parametrize(
    "sql",
    [
        "lpad(s, 20, '0') = 'x'",
        "lpad(month(day), 2, '0') = '01'",
        "lpad(CAST(n AS STRING), 10 * 2, '0') = 'x'",
        "repeat('*', length(s) - 4) = 'x'",
        "rpad(s, least(n, 100), ' ') = 'x'",
        "space(5) || s = 'x'",
        "array_repeat(0, 10)[0] = 1",
        "size(sequence(1, 100)) = 1",
        "size(sequence(20200101, 20200131)) = 31",
        "size(sequence(DATE '2020-01-01', DATE '2024-12-31')) = 1",
        "size(sequence(DATE '2020-01-01', DATE '2024-12-31', INTERVAL 1 MONTH)) = 1",
        "format_string('%05d-%s', n, s) = 'x'",
        "format_number(n, '#,###.00') = 'x'",
        "format_number(n, 2) = 'x'",
        "coalesce(round(d, 2), round(d), bround(d, -2)) = 0",
        "replace(s, 'a', 'bb') = 'x'",
        "regexp_replace(s, '(a+)', '$1$1') = 'x'",
        "aggregate(many, 0L, (a, x) -> a + x) > 1",
        "aggregate(many, 0L, (a, x) -> a * x + a * 2, a -> a * 2) > 1",
        "aggregate(many, '', (a, x) -> concat(a, x)) > '1'",
        "transform(many, (x, i) -> x + i)[0] = 1",
        "exists(many, x -> x > 1)",
        "zip_with(many, many, (x, y) -> x + y)[0] = 1",
        "transform_values(m, (k, v) -> upper(v))['a'] = 'x'",
        "array_join(many, ', ') = 'x'",
        "sha2(concat_ws(',', s, s), 256) = 'x'",
        "to_json(struct(*)) = 'x'",
        "split(s, ',')[0] = 'x'",
        " || ".join(["s"] * 100) + " = 'x'",
        " AND ".join(f"hash(n) = {n}" for n in range(2000)),
        f"n IN ({', '.join(map(str, range(8000)))})",
        f"CASE {' '.join(f'WHEN n = {n} THEN {n}' for n in range(500))} END = 1",
    ],
)
def test_what_stays_small_is_left_to_spark(sql: str) -> None:
    tree = parse_sql(sql).tree

    refuse_growth(sql, tree)

    assert tree.sql()
