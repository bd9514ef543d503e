"""Rows, and expressions over them that Spark and we give the same values of."""

import math
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa

ROWS = pa.table(
    {
        "row": pa.array(range(6), pa.int32()),
        "n": pa.array([1, -7, None, 0, 2**40, 5], pa.int64()),
        "i": pa.array([3, None, -3, 7, 100, 2], pa.int32()),
        "x": pa.array([1.5, math.nan, None, -0.0, math.inf, -2.5], pa.float64()),
        "y": pa.array([1.5, math.nan, 2.0, 0.0, None, 3.0], pa.float64()),
        "d": pa.array(
            [
                Decimal("1.50"),
                Decimal("-0.05"),
                None,
                Decimal(0),
                Decimal(99),
                Decimal(2),
            ],
            pa.decimal128(10, 2),
        ),
        "s": pa.array(["abc", " Straße ", None, "", "a%b", "ABC"]),
        "p": pa.array(["abc", "x", "y", None, "a_b", "abc"]),
        "b": pa.array([True, False, None, True, False, None]),
        "t": pa.array(
            [
                datetime(2026, 1, 31, 23, 59, 59, 123456, tzinfo=UTC),
                datetime(1969, 12, 31, 23, 0, tzinfo=UTC),
                None,
                datetime(2000, 2, 29, tzinfo=UTC),
                datetime(1900, 1, 1, 1, 2, 3, tzinfo=UTC),
                datetime(2026, 6, 1, 12, tzinfo=UTC),
            ],
            pa.timestamp("us", "UTC"),
        ),
        "day": pa.array(
            [
                date(2026, 1, 31),
                date(1969, 12, 31),
                None,
                date(2000, 2, 29),
                date(1900, 1, 1),
                date(2026, 6, 1),
            ]
        ),
    }
)

CONDITIONS = (
    "n > 0", "n = i", "n <> 1", "n <=> NULL", "n < 1.5", "i >= n", "x > 1", "x = y",
    "x < y", "x >= y", "x <= y", "x <> y", "x <=> y", "NOT x > 5", "x = x",
    "n IS NULL", "b IS TRUE", "b IS NOT TRUE", "b IS FALSE", "b AND n > 0",
    "b OR n IS NULL", "NOT b", "n IN (1, 5)", "n IN (1, NULL)", "n NOT IN (1, NULL)",
    "n NOT IN (1, 5)", "i IN (3, 4294967299)", "n IN (0, 1.5)", "n IN (NULL)",
    "s IN ('abc', '')", "s NOT IN ('abc', NULL)", "x IN (1.5e0, 0)",
    "n BETWEEN 0 AND 5", "n NOT BETWEEN 0 AND 5",
    "s LIKE 'a%'", "s LIKE '%b%'", "s NOT LIKE 'a_c'", r"s LIKE 'a\\%b'",
    "s LIKE 'a!%b' ESCAPE '!'", "s = p", "s < p", "s > ''", "d = 1.5", "d > n",
    "d < x", "d IN (0, 2)", "day > '2000-01-01'", "day = t", "t >= '2026-01-01'",
    "t < TIMESTAMP '1970-01-01 00:00:00'", "day BETWEEN DATE '1969-01-01' AND t",
    "n <> 0 AND 10 / n > 1", "n = 0 OR 10 % n = 1", "startswith(s, 'a')",
    "endswith(s, 'c')", "contains(s, '%')", "isnull(n)", "isnotnull(n)",
    "x = 'NaN'", "x IN ('NaN', 1)", "x = 1D", "y > -1.5E0", "x = -1.5e0", "i = 3Y",
    "day = '2026-1-31'", "day < '2026-01-31 12:00:00'", "t = '2000-2-29'",
    "s ILIKE '%STRASSE%'", "s ILIKE 'a_C'", "s LIKE NULL", "'01' IN (i, n)",
    "i IN ('03', 7)", "d = '1.5'", "d IN (1.5BD, 2)", "n = '05'", "b = 'yes'",
    "n IN (5D, 9007199254740993)", "CAST(s AS BINARY) = X'616263'", "NULL = 1 / i",
    "n = i IS NULL", "(n > 0) = b", "NULL", "n + NULL > 1", "TRUE",
)  # fmt: skip
VALUES = (
    "n + 1", "n - i", "i * 2", "n * 2", "-i", "i / 2", "n / 7", "i % 3", "n % -3",
    "mod(n, 4)", "n DIV 2", "x + 1", "x * y", "d + 1", "d - 0.5", "d * 2", "d + d",
    "abs(i)", "abs(d)", "floor(i / 2)", "ceil(i / 2)",
    "upper(s)", "lower(s)", "length(s)", "trim(s)", "ltrim(s)", "rtrim(s)",
    "concat(s, '-', p)", "s || p", "substring(s, 2, 1)", "substr(s, -2)",
    "substring(s, 0, 2)", "substring(s, -5, 3)", "replace(s, 'a', 'xy')",
    "coalesce(n, i, 0)", "nvl(s, 'none')", "ifnull(i, 5)", "nullif(n, 5)",
    "if(n > 0, 'p', 'm')", "nvl2(n, i, 0)",
    "CASE WHEN n > 0 THEN 'a' WHEN n < 0 THEN 'b' ELSE 'c' END",
    "CASE WHEN n <> 0 THEN 100 / n END", "CASE i WHEN 3 THEN 1 WHEN 7 THEN 2 END",
    "CASE WHEN b THEN n ELSE 0.5 END", "CASE WHEN b THEN i ELSE x END",
    "CAST(i AS BIGINT)", "CAST(i AS STRING)", "CAST(i AS DOUBLE)", "CAST(d AS STRING)",
    "CAST(d AS INT)", "CAST(d AS DOUBLE)", "CAST(b AS INT)", "CAST(b AS STRING)",
    "CAST(day AS STRING)", "CAST(t AS STRING)", "CAST(t AS DATE)",
    "CAST(day AS TIMESTAMP)", "CAST(i AS DECIMAL(12, 3))", "CAST(i AS BOOLEAN)",
    "CAST(' 1.5e0 ' AS DOUBLE)", "CAST('-inf' AS FLOAT)", "CAST(d AS FLOAT)",
    "CAST(1.255 AS DECIMAL(3, 2))", "CAST(' 7.005 ' AS DECIMAL(9, 2))", "floor(x)",
    "CAST('2026-1-31 5:6' AS TIMESTAMP)", "CAST('2026-1-31 5:6:7Z' AS TIMESTAMP_NTZ)",
    "CAST(t AS TIMESTAMP_NTZ) >= '2026-01-31 22:00:00-05:00'",
    "TIMESTAMP_NTZ '2026-01-31 22:00:00-05:00'",
    "CAST(' Yes' AS BOOLEAN)", "ceil(y)",
    "CAST(9223372036854775807D AS BIGINT)", "-128Y", "-1.5BD", "0.1F",
    "CAST('12' AS INT)", "CAST(' -3 ' AS BIGINT)", "CAST('2026-01-31' AS DATE)",
    "year(day)", "quarter(day)", "month(t)", "day(t)", "dayofmonth(day)",
    "dayofweek(day)", "dayofyear(t)", "hour(t)", "minute(t)", "second(t)",
    "date_add(day, i)", "date_sub(day, 1)", "datediff(day, DATE '2026-01-01')",
    "to_date(t)", "1.50", "1e3", "12345678901", "X'00ff'", "'it''s'", "NULL",
)  # fmt: skip
WITHOUT_VALUE = (
    "10 / (n - n)", "i % (i - i)", "CAST('x' AS INT)", "n * 9223372036854775807",
    "CAST(n AS INT)", "CAST(x AS BIGINT)", "i + 2147483647",
)  # fmt: skip
REFUSED = {
    "rand()": "rand",
    "regexp_extract(s, 'a', 0)": "regexp_extract",
    "round(x)": "round",
    "d / 3": "division of decimals",
    "CAST(x AS STRING)": "cast",
    "sum(n)": "sum",
    "n IN (SELECT 1)": "holds a query",
    "my_function(n)": "my_function",
    "nothing + 1": "no column",
    "n LIKE 'a'": "LIKE",
    "n +": "not SQL",
    "b = 1": "boolean and int",
    "day = 'abc'": "'abc' is not a valid date",
    "n = 1e400": "beyond",
}
