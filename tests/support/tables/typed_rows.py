"""Rows of every type that SQL compares, and the values that it writes beside them."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa

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
        "g": _column(
            _decimals(
                *("1.51", "16777217.00", None, "1" + "0" * 35, "9" * 36 + ".99"),
                *("5.00", "-0.01", "0.00", "9007199254740993.00", "-7.00"),
            ),
            pa.decimal128(38, 2),
        ),
        "u": _column(
            _decimals(
                *("1.5", "1.50000000000000000001", None, "-0.05", "9" * 18),
                *("5", "0.1", "7.01", "-7", "0.00000000000000000001"),
            ),
            pa.decimal128(38, 20),
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
    "wide": ("g", "u"),
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
    "wide": (
        *("1.505", "1.5", "5", "-7", "0.00000000000000000001", "16777217.00"),
        *("123456789012345678901", "1.50000000000000000001", "9007199254740993"),
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
        *("TIMESTAMP '2024-03-10 02:30:00'", "TIMESTAMP '2024-11-03 01:30:00'"),
        *("TIMESTAMP '1850-07-01'", "TIMESTAMP '2050-07-04 23:30:00'"),
    ),
    "timestamp_ntz": (
        *("TIMESTAMP_NTZ '2026-01-01 00:00:00'", "TIMESTAMP_NTZ '2026-6-1 12:0:0'"),
        "CAST('1900-01-01 01:02:03.000004' AS TIMESTAMP_NTZ)",
        *("TIMESTAMP_NTZ '2024-03-10 02:30:00'", "TIMESTAMP_NTZ '2024-11-03 01:30:00'"),
    ),
    "binary": ("X'616263'", "X''", "X'ff00'", "CAST('01' AS BINARY)", "X'80'"),
}
NUMBER_TEXTS = ("'1'", "'01'", "' 5 '", "'-7'", "'+3'", "'16777217'")
FRACTION_TEXTS = ("'1.5'", "'0.1'", "'1e3'", "'NaN'", "'-Infinity'", "' 2.0 '", "'1D'")
TIME_TEXTS = (
    *("'2026-01-31'", "'2026-1-1'", "'1969-12-31 23:00:00'", "'2026'", "'2026-06'"),
    *("'2000-02-29T00:00:00'", "' 2026-06-01 12:00 '", "'2026-01-01 00:00:00.000001'"),
    *("'2024-03-10'", "'2024-03-10 02:30:00'", "'2024-11-03 01:30:00'"),
)
ZONED_TEXTS = (
    *("'2026-06-01 14:00:00+02:00'", "'2026-01-01T00:00:00Z'"),
    *("'2024-03-10 02:30:00 America/New_York'", "'2026-06-01 12:00:00PST'"),
)
TEXTS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), NUMBER_TEXTS),
    **dict.fromkeys(
        ("float", "double", "decimal", "wide"), NUMBER_TEXTS + FRACTION_TEXTS
    ),
    "date": TIME_TEXTS,
    "timestamp": TIME_TEXTS + ZONED_TEXTS,
    "timestamp_ntz": TIME_TEXTS + ZONED_TEXTS,
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
