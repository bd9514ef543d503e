"""Conditions in SQL, drawn at random, over the rows of `typed_rows`.

They are drawn by type, so that most of them mean something: values of one type beside
those of the same or of another that meets it, as Spark has it in its ANSI mode.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from hypothesis import strategies as st

from tests.support.tables.typed_rows import (
    BAD_TEXTS,
    COLUMNS,
    INTEGERS,
    LITERALS,
    NUMBERS,
    PATTERNS,
    TEXTS,
    TIME_TEXTS,
    TIMES,
)

SQL: TypeAlias = str
Draw: TypeAlias = st.DrawFn
Make: TypeAlias = Callable[[Draw, int], SQL]

operators = st.sampled_from(["=", "!=", "<>", "<", "<=", ">", ">=", "<=>", "=="])


def meets(kind: str) -> tuple[str, ...]:
    """Return the types whose values are compared with those of a type."""
    if kind == "wide":  # decimals of 38 digits
        return (*NUMBERS, kind)
    for group in (NUMBERS, TIMES):
        if kind in group:
            return group
    return (kind,)


@st.composite
def values(draw: Draw, kind: str, depth: int = 2) -> SQL:
    """Draw a value of a type."""
    choice = draw(st.integers(0, 9))
    makers = MAKERS.get(kind, ())
    if depth <= 0 or choice < 4 or not makers:
        return draw(st.sampled_from(COLUMNS[kind]))
    if choice < 7:
        return draw(st.sampled_from(LITERALS[kind]))
    maker = draw(st.sampled_from(makers))
    return maker(draw, depth - 1)


def _value(draw: Draw, kind: str, depth: int) -> SQL:
    return draw(values(kind, depth))


def _condition(draw: Draw, depth: int) -> SQL:
    return draw(conditions(depth))


def _other(draw: Draw, kind: str, depth: int) -> SQL:
    """Draw a value that is compared with one of a type, of the same or another."""
    choice = draw(st.integers(0, 19))
    if choice == 0:
        return "NULL"
    if choice == 1:
        return draw(st.sampled_from(BAD_TEXTS))
    if choice < 6:
        return draw(st.sampled_from(TEXTS[kind]))
    if choice < 11:
        return _value(draw, draw(st.sampled_from(meets(kind))), depth)
    if choice < 16:
        return draw(st.sampled_from(LITERALS[draw(st.sampled_from(meets(kind)))]))
    return _value(draw, kind, depth)


def _call(name: str, *kinds: str) -> Make:
    """Return what draws a call of a function of values of such types."""

    def make(draw: Draw, depth: int) -> SQL:
        arguments = [
            _value(draw, draw(st.sampled_from(kind.split("|"))), depth)
            for kind in kinds
        ]
        return f"{name}({', '.join(arguments)})"

    return make


def _cast(kind: str, *sources: str) -> Make:
    def make(draw: Draw, depth: int) -> SQL:
        source = draw(st.sampled_from(sources))
        return f"CAST({_value(draw, source, depth)} AS {kind})"

    return make


def _between_two(signs: Sequence[str], *kinds: str) -> Make:
    def make(draw: Draw, depth: int) -> SQL:
        left, right = (
            _value(draw, draw(st.sampled_from(kinds)), depth) for _ in range(2)
        )
        return f"({left} {draw(st.sampled_from(signs))} {right})"

    return make


def _choice(kind: str) -> Make:
    """Return what draws CASE, IF, COALESCE and their kin, of a type."""

    def make(draw: Draw, depth: int) -> SQL:
        one, other = _value(draw, kind, depth), _other(draw, kind, 0)
        test = _condition(draw, depth - 1)
        forms = [
            f"CASE WHEN {test} THEN {one} ELSE {other} END",
            f"CASE WHEN {test} THEN {one} END",
            f"if({test}, {one}, {other})",
            f"coalesce({one}, {other})",
            f"nvl({one}, {other})",
            f"ifnull({one}, {other})",
            f"nullif({one}, {other})",
            f"nvl2({one}, {other}, {one})",
        ]
        return draw(st.sampled_from(forms))

    return make


_DAYS = "date|timestamp|timestamp_ntz"
_TEXT_NUMBERS = (*INTEGERS, "decimal", "boolean")
MAKERS: dict[str, tuple[Make, ...]] = {
    "boolean": (
        lambda draw, depth: f"({_condition(draw, depth)})",
        _cast("BOOLEAN", *INTEGERS),
        _choice("boolean"),
    ),
    "tinyint": (_cast("TINYINT", "int", "boolean", "double"), _choice("tinyint")),
    "smallint": (_cast("SMALLINT", "bigint", "tinyint"), _choice("smallint")),
    "int": (
        _cast("INT", *NUMBERS, "boolean", "string"),
        _call("length", "string"),
        _call("char_length", "string"),
        *(
            _call(name, _DAYS)
            for name in ("year", "quarter", "month", "day", "dayofmonth")
        ),
        _call("dayofweek", _DAYS),
        _call("dayofyear", _DAYS),
        *(
            _call(name, "timestamp|timestamp_ntz")
            for name in ("hour", "minute", "second")
        ),
        _call("datediff", _DAYS, _DAYS),
        _between_two("+-*", "int", "smallint"),
        _between_two("%", "int", "tinyint"),
        _call("abs", "int"),
        _call("negative", "int"),
        _choice("int"),
        lambda draw, depth: f"-({_value(draw, 'int', depth)})",
    ),
    "bigint": (
        _cast("BIGINT", *NUMBERS, "string"),
        _between_two("+-*", "bigint", "int"),
        _between_two(["DIV", "%"], "bigint", "int"),
        _call("mod", "bigint", "int"),
        _call("floor", "double|float|bigint"),
        _call("ceil", "double|float|int"),
        _call("ceiling", "double"),
        _choice("bigint"),
    ),
    "float": (
        _cast("FLOAT", *NUMBERS),
        _between_two("+-*", "float"),
        _call("abs", "float"),
        _choice("float"),
    ),
    "double": (
        _cast("DOUBLE", *NUMBERS, "string"),
        _between_two("+-*/", "double", "float", "int"),
        _between_two("/", "bigint", "int"),
        _call("abs", "double"),
        _choice("double"),
        lambda draw, depth: f"-({_value(draw, 'double', depth)})",
    ),
    "decimal": (
        _cast("DECIMAL(12, 3)", *INTEGERS, "decimal"),
        _between_two("+-", "decimal", "int"),
        _call("abs", "decimal"),
        _choice("decimal"),
    ),
    "string": (
        *(
            _call(name, "string")
            for name in ("upper", "lower", "ucase", "lcase", "trim", "ltrim", "rtrim")
        ),
        _call("concat", "string", "string|int|date"),
        _between_two(["||"], "string"),
        lambda draw, depth: (
            f"substring({_value(draw, 'string', depth)}, "
            f"{draw(st.integers(-4, 4))}, {draw(st.integers(-1, 4))})"
        ),
        lambda draw, depth: (
            f"substr({_value(draw, 'string', depth)}, {draw(st.integers(-4, 4))})"
        ),
        lambda draw, depth: f"replace({_value(draw, 'string', depth)}, 'a', 'xy')",
        _cast("STRING", *_TEXT_NUMBERS, *TIMES),
        _choice("string"),
    ),
    "date": (
        _cast("DATE", "timestamp", "timestamp_ntz", "string"),
        _call("to_date", _DAYS),
        _call("date_add", "date", "int"),
        _call("date_sub", "date", "tinyint"),
        _choice("date"),
    ),
    "timestamp": (
        _cast("TIMESTAMP", "date", "timestamp_ntz", "string"),
        _choice("timestamp"),
    ),
    "timestamp_ntz": (
        _cast("TIMESTAMP_NTZ", "date", "timestamp"),
        _choice("timestamp_ntz"),
    ),
    "binary": (_cast("BINARY", "string"), _choice("binary")),
}


def _listed(draw: Draw, kind: str, value: SQL, denial: SQL) -> SQL:
    several = [_other(draw, kind, 0) for _ in range(draw(st.integers(1, 4)))]
    return f"{value} {denial}IN ({', '.join(several)})"


def _between(draw: Draw, kind: str, value: SQL, denial: SQL) -> SQL:
    low, high = _other(draw, kind, 0), _other(draw, kind, 0)
    return f"{value} {denial}BETWEEN {low} AND {high}"


def _like(draw: Draw, _: str, __: SQL, denial: SQL) -> SQL:
    word = draw(st.sampled_from(["LIKE", "ILIKE"]))
    pattern = draw(st.sampled_from(PATTERNS))
    return f"{_value(draw, 'string', 1)} {denial}{word} {pattern}"


def _part(draw: Draw, _: str, __: SQL, denial: SQL) -> SQL:
    name = draw(st.sampled_from(["startswith", "endswith", "contains"]))
    part = draw(st.sampled_from(LITERALS["string"]))
    return f"{denial}{name}({_value(draw, 'string', 1)}, {part})"


def _is_null(draw: Draw, _: str, value: SQL, denial: SQL) -> SQL:
    forms = [f"{value} IS {denial}NULL", f"{denial}isnull({value})"]
    return draw(st.sampled_from([*forms, f"{denial}isnotnull({value})"]))


def _is_true(draw: Draw, _: str, __: SQL, denial: SQL) -> SQL:
    constant = draw(st.sampled_from(["TRUE", "FALSE", "NULL", "UNKNOWN"]))
    return f"{_value(draw, 'boolean', 1)} IS {denial}{constant}"


def _compared(draw: Draw, kind: str, value: SQL, denial: SQL) -> SQL:
    sides = [value, _other(draw, kind, 1)]
    left, right = draw(st.permutations(sides))
    return f"{denial}{left} {draw(operators)} {right}"


_LEAVES: tuple[Callable[[Draw, str, SQL, SQL], SQL], ...] = (
    *(_compared, _compared, _compared, _compared, _listed, _listed, _between),
    *(_like, _like, _part, _is_null, _is_true),
    lambda draw, _, __, denial: f"{denial}{_value(draw, 'boolean', 1)}",
)


@st.composite
def leaves(draw: Draw, depth: int) -> SQL:
    """Draw a condition without conditions side by side in it."""
    kind = draw(st.sampled_from(list(COLUMNS)))
    make = draw(st.sampled_from(_LEAVES))
    denial = draw(st.sampled_from(["", "", "NOT "]))
    return make(draw, kind, _value(draw, kind, depth), denial)


@st.composite
def conditions(draw: Draw, depth: int = 2) -> SQL:
    """Draw a condition."""
    choice = draw(st.integers(0, 9))
    if depth <= 0 or choice < 5:
        return draw(leaves(max(depth, 0)))
    if choice < 7:
        return f"NOT ({_condition(draw, depth - 1)})"
    parts = [f"({_condition(draw, depth - 1)})" for _ in range(2)]
    return draw(st.sampled_from([" AND ", " OR "])).join(parts)


_PARTS: Sequence[Make] = (
    *(_call(name, "timestamp") for name in ("hour", "minute", "second", "day")),
    *(_call(name, _DAYS) for name in ("year", "month", "dayofyear", "dayofweek")),
    _call("datediff", _DAYS, _DAYS),
)


@st.composite
def conditions_on_times(draw: Draw) -> SQL:
    """Draw a condition on days and times, on their parts, or on their texts."""
    choice = draw(st.integers(0, 9))
    if choice == 0:
        parts = [f"({draw(conditions_on_times())})" for _ in range(2)]
        return draw(st.sampled_from([" AND ", " OR "])).join(parts)
    denial = draw(st.sampled_from(["", "NOT "]))
    if choice == 1:
        part = draw(st.sampled_from(_PARTS))(draw, 1)
        return f"{denial}{part} {draw(operators)} {draw(st.integers(0, 31))}"
    if choice == 2:
        text = _cast("STRING", *TIMES)(draw, 1)
        return f"{denial}{text} {draw(operators)} {draw(st.sampled_from(TIME_TEXTS))}"
    kind = draw(st.sampled_from(TIMES))
    make = draw(st.sampled_from((_compared, _compared, _listed, _between)))
    return make(draw, kind, _value(draw, kind, 1), denial)
