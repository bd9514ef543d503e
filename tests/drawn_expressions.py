"""Conditions in SQL, drawn at random, over rows of every type that SQL compares.

They are drawn by type, so that most of them mean something: values of one type beside
those of the same or of another that meets it, as Spark has it in its ANSI mode.
"""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import TypeAlias

import pyarrow as pa
from hypothesis import strategies as st

SQL: TypeAlias = str
Draw: TypeAlias = st.DrawFn

_MOMENTS = [
    None if text is None else datetime.fromisoformat(text)
    for text in (
        *("2026-01-31 23:59:59.123456", "1969-12-31 23:00:00", None, "2000-02-29"),
        *("1900-01-01 01:02:03.000004", "2026-06-01 12:00:00", "9999-12-31 23:59:59"),
        *("0001-01-01", "2026-01-01", "2026-01-01 00:00:00.000001"),
    )
]


def _column(values: Sequence[object], kind: pa.DataType) -> pa.Array:
    return pa.array(values, kind)


def _decimals(*texts: str | None) -> list[Decimal | None]:
    return [None if text is None else Decimal(text) for text in texts]


ROWS = pa.table(
    {
        "row": _column(range(10), pa.int32()),
        "b": _column(
            [True, False, None, True, False, None, True, False, True, None], pa.bool_()
        ),
        "c": _column([True, True, None, False, False, None] * 2, pa.bool_()).slice(2),
        "y": _column([1, -7, None, 0, 127, 5, -128, 2, 2, 100], pa.int8()),
        "h": _column([1, -7, None, 0, 32767, 5, -32768, 200, 2, 3], pa.int16()),
        "i": _column(
            [3, None, -3, 7, 100, 2, 2**31 - 1, -(2**31), 16777217, 0], pa.int32()
        ),
        "n": _column(
            [1, -7, None, 0, 2**40, 5, 2**63 - 1, -(2**63), 2**53 + 1, 16777217],
            pa.int64(),
        ),
        "f": _column(
            [1.5, math.nan, None, -0.0, math.inf, 0.1, -math.inf, 0.0, 16777216, 3e38],
            pa.float32(),
        ),
        "x": _column(
            [1.5, math.nan, None, -0.0, math.inf, 0.1, -math.inf, 2**53, 1e300, -2.5],
            pa.float64(),
        ),
        "z": _column(
            [1.5, math.nan, 2.0, 0.0, None, 0.1, 3.0, -1e-300, 1e10, math.nan],
            pa.float64(),
        ),
        "d": _column(
            _decimals(
                *("1.50", "-0.05", None, "0.00", "99.00", "2.00", "99999999.99"),
                *("0.10", "7.01", "-7.00"),
            ),
            pa.decimal128(10, 2),
        ),
        "e": _column(
            _decimals(
                *("1.500", "16777217.000", None, "0.100", "123456789012345678.901"),
                *("5.000", "-0.001", "0.000", "9007199254740993.000", "-7.000"),
            ),
            pa.decimal128(24, 3),
        ),
        "s": _column(
            ["abc", " Straße ", None, "", "a%b", "ÄBC", "01", "2026-01-31", "ß", "1.5"],
            pa.string(),
        ),
        "p": _column(
            ["abc", "x", "y", None, "a_b", "äbc", "1", "İ", "\U0001f600é", "a\nb"],
            pa.string(),
        ),
        "day": _column([moment and moment.date() for moment in _MOMENTS], pa.date32()),
        "t": _column(
            [moment and moment.replace(tzinfo=UTC) for moment in _MOMENTS],
            pa.timestamp("us", "UTC"),
        ),
        "w": _column(list(reversed(_MOMENTS)), pa.timestamp("us")),
        "v": _column(
            [b"", b"abc", None, b"\xff\x00", b"a", b"01", b"1", b"\x80", b"ab", b"b"],
            pa.binary(),
        ),
        "r": _column(
            [
                None if number == 4 else {"k": text, "q": number}
                for number, text in enumerate("abAB")
            ]
            * 2
            + [None, {"k": None, "q": None}],
            pa.struct([("k", pa.string()), ("q", pa.int32())]),
        ),
    }
)
"""Rows of every type; the first column numbers them."""

COLUMNS = {
    "boolean": ("b", "c"),
    "tinyint": ("y",),
    "smallint": ("h",),
    "int": ("i", "r.q"),
    "bigint": ("n",),
    "float": ("f",),
    "double": ("x", "z"),
    "decimal": ("d", "e"),
    "string": ("s", "p", "r.k"),
    "date": ("day",),
    "timestamp": ("t",),
    "timestamp_ntz": ("w",),
    "binary": ("v",),
}
LITERALS = {
    "boolean": ("TRUE", "FALSE"),
    "tinyint": ("1Y", "-7Y", "127Y", "-128Y", "CAST(5 AS TINYINT)"),
    "smallint": ("1S", "200S", "-32768S", "CAST(2 AS SMALLINT)"),
    "int": ("0", "1", "3", "-7", "100", "2147483647", "-2147483648", "16777217"),
    "bigint": (
        *("0L", "5L", "-7L", "2147483648", "9223372036854775807"),
        *("-9223372036854775808", "9007199254740993", "CAST(16777217 AS BIGINT)"),
    ),
    "float": (
        *("1.5F", "0.1F", "-0.0F", "16777217F", "3e38F", "CAST('NaN' AS FLOAT)"),
        *("float('infinity')", "CAST(0.1 AS FLOAT)"),
    ),
    "double": (
        *("1D", "1.5D", "0.1D", "1e3", "1.5e0", "-0.0D", "0D", "1e300", "1E-1"),
        *("CAST('NaN' AS DOUBLE)", "double('NaN')", "CAST('-Infinity' AS DOUBLE)"),
        *("double('inf')", "9007199254740992D", "CAST(0.1 AS DOUBLE)"),
    ),
    "decimal": (
        *("0.1", "1.5", "-0.05", "0.0", "99.00", ".5", "2.", "1.5BD", "7BD"),
        *("16777217.0", "9007199254740993.0", "CAST(1.5 AS DECIMAL(12, 3))"),
        *("CAST('0.1' AS DECIMAL(5, 1))", "9223372036854775808"),
    ),
    "string": (
        *("'abc'", "''", "'ABC'", "'straße'", "'a%b'", "'Äbc'", "'x'", "'ß'", "'i'"),
        *(r"'a\nb'", r"'a\\b'", "'it''s'", r"'\u00e9'", "'\U0001f600é'", "'ss'"),
    ),
    "date": (
        *("DATE '2026-01-31'", "DATE '2026-1-1'", "DATE '1969-12-31'"),
        *("CAST('2000-02-29' AS DATE)", "date('2026-06-01')", "DATE '2026'"),
    ),
    "timestamp": (
        *("TIMESTAMP '2026-01-01 00:00:00'", "TIMESTAMP '2026-1-1'"),
        *("TIMESTAMP '2026-01-31 23:59:59.123456'", "TIMESTAMP '1969-12-31 23:00:00Z'"),
        *("CAST('2000-02-29' AS TIMESTAMP)", "TIMESTAMP '2026-06-01T14:00:00+02:00'"),
        "timestamp('2026-01-01 00:00:00.000001')",
    ),
    "timestamp_ntz": (
        *("TIMESTAMP_NTZ '2026-01-01 00:00:00'", "TIMESTAMP_NTZ '2026-6-1 12:0:0'"),
        "CAST('1900-01-01 01:02:03.000004' AS TIMESTAMP_NTZ)",
    ),
    "binary": ("X'616263'", "X''", "X'ff00'", "CAST('01' AS BINARY)", "X'80'"),
}
NUMBER_TEXTS = ("'1'", "'01'", "' 5 '", "'-7'", "'+3'", "'16777217'")
FRACTION_TEXTS = ("'1.5'", "'0.1'", "'1e3'", "'NaN'", "'-Infinity'", "' 2.0 '", "'1D'")
TIME_TEXTS = (
    *("'2026-01-31'", "'2026-1-1'", "'1969-12-31 23:00:00'", "'2026'", "'2026-06'"),
    *("'2000-02-29T00:00:00'", "' 2026-06-01 12:00 '", "'2026-01-01 00:00:00.000001'"),
)
ZONED_TEXTS = ("'2026-06-01 14:00:00+02:00'", "'2026-01-01T00:00:00Z'")
TEXTS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), NUMBER_TEXTS),
    **dict.fromkeys(("float", "double", "decimal"), NUMBER_TEXTS + FRACTION_TEXTS),
    "date": TIME_TEXTS,
    "timestamp": TIME_TEXTS + ZONED_TEXTS,
    "timestamp_ntz": TIME_TEXTS,
    "boolean": ("'true'", "'f'", "' YES '", "'0'"),
    "binary": ("'abc'", "'01'", "''"),
    "string": LITERALS["string"],
}
"""Texts that are values of another type, as Spark reads them."""
BAD_TEXTS = ("'abc'", "''", "'1.5'", "'2026-02-30'", "'1x'", "'12:00'")

INTEGERS = ("tinyint", "smallint", "int", "bigint")
NUMBERS = (*INTEGERS, "float", "double", "decimal")
TIMES = ("date", "timestamp", "timestamp_ntz")
PATTERNS = (
    *("'a%'", "'%b%'", "'a_c'", r"'a\\%b'", "'Ä%'", "'äB_'", "'%ß%'", "'_'", "''"),
    *("'%'", "'STRASSE%'", "'% STRASSE '", "'i%'", "'A\\nb'", "'a_b'", "'___'"),
)
operators = st.sampled_from(["=", "!=", "<>", "<", "<=", ">", ">=", "<=>", "=="])


def meets(kind: str) -> tuple[str, ...]:
    """Return the types whose values are compared with those of a type."""
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


def _number(draw: Draw, depth: int) -> SQL:
    return _value(draw, draw(st.sampled_from(NUMBERS)), depth)


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


def _call(name: str, *kinds: str) -> Callable[[Draw, int], SQL]:
    """Return what draws a call of a function of values of such types."""

    def make(draw: Draw, depth: int) -> SQL:
        arguments = [
            _value(draw, draw(st.sampled_from(kind.split("|"))), depth)
            for kind in kinds
        ]
        return f"{name}({', '.join(arguments)})"

    return make


def _cast(kind: str, *sources: str) -> Callable[[Draw, int], SQL]:
    def make(draw: Draw, depth: int) -> SQL:
        source = draw(st.sampled_from(sources))
        return f"CAST({_value(draw, source, depth)} AS {kind})"

    return make


def _between_two(signs: Sequence[str], *kinds: str) -> Callable[[Draw, int], SQL]:
    def make(draw: Draw, depth: int) -> SQL:
        left, right = (
            _value(draw, draw(st.sampled_from(kinds)), depth) for _ in range(2)
        )
        return f"({left} {draw(st.sampled_from(signs))} {right})"

    return make


def _choice(kind: str) -> Callable[[Draw, int], SQL]:
    """Return what draws CASE, IF, COALESCE and their kin, of a type."""

    def make(draw: Draw, depth: int) -> SQL:
        one, other = _value(draw, kind, depth), _other(draw, kind, 0)
        test = draw(conditions(depth - 1))
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
MAKERS: dict[str, tuple[Callable[[Draw, int], SQL], ...]] = {
    "boolean": (
        lambda draw, depth: f"({draw(conditions(depth))})",
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


_LEAVES = (
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
        return f"NOT ({draw(conditions(depth - 1))})"
    parts = [f"({draw(conditions(depth - 1))})" for _ in range(2)]
    return draw(st.sampled_from([" AND ", " OR "])).join(parts)
