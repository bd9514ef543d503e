"""Parts of variants are the values that `try_variant_get` and `variant_get` give."""

import math
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from deltaweb.delta.values.variant_get import VariantCastError, variant_get

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

NUMBERS = [
    ("CAST({} AS TINYINT)", "tinyint", ["7", "-1", "0"]),
    ("CAST({} AS BIGINT)", "bigint", ["300", "9007199254740993"]),
    ("CAST({} AS DECIMAL(38, 6))", "decimal", ["1.5", "-2.5", "100", "0.000001", "0"]),
    ("CAST({} AS DECIMAL(38, 0))", "decimal", ["99999999999999999999"]),
    ("CAST('{}' AS DOUBLE)", "double", ["1.5", "-1.9", "1.0E19", "0.125", "1.0E-5"]),
    ("CAST({} AS FLOAT)", "float", ["1.5", "-0.25"]),
]
TEXTS = [
    *("12", " 12 ", "1.5", "abc", "true", "y", "1", "2024", "2024-02-29", "2024-2-9"),
    *("2024-02-29 10:11:12.5", "2024-02-29T10:11:12+02:00", "NaN", "1e3", "+7", "1d"),
    *("", "Infinity", ".5", "5.", "2024-02-30", "2024-02-29 9:5", "2024-02-29 10"),
    *("-.5f", "0.1", "+NaN", "1e400", "0.125", "2024-02-29 10:11:12 UTC+3:00"),
]
CASES = [
    *(
        (sql.format(digits), f'{{"type":"{kind}","value":{digits}}}')
        for sql, kind, values in NUMBERS
        for digits in values
    ),
    *((f"'{text}'", f'{{"type":"string","value":"{text}"}}') for text in TEXTS),
    *((word, f'{{"type":"boolean","value":{word}}}') for word in ("true", "false")),
    *(
        (f"CAST('{word}' AS DOUBLE)", f'{{"type":"double","value":"{word}"}}')
        for word in ("NaN", "Infinity", "-Infinity")
    ),
    ("DATE'2024-02-29'", '{"type":"date","value":"2024-02-29"}'),
    *(
        (f"TIMESTAMP'{time}Z'", f'{{"type":"timestamp","value":"{time}+00:00"}}')
        for time in ("2024-02-29 10:11:12.5", "1969-12-31 23:59:59.5")
    ),
    (
        "TIMESTAMP_NTZ'2024-02-29 10:11:12'",
        '{"type":"timestamp_ntz","value":"2024-02-29 10:11:12"}',
    ),
    ("X'41'", '{"type":"binary","value":"QQ=="}'),
]
TYPES = [
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE"),
    *("DECIMAL(5, 2)", "DECIMAL(38, 1)", "STRING", "DATE", "BINARY"),
    *("TIMESTAMP", "TIMESTAMP_NTZ"),
]


def told(data_type: str) -> str:
    """Return what Spark is asked of a value; a time as it reads in UTC."""
    got = f"try_variant_get(v, '$.a', '{data_type}')"
    return f"unix_micros({got})" if data_type == "TIMESTAMP" else got


def comparable(value: Any, data_type: str) -> Any:  # noqa: ANN401  # of any type
    match value:
        case bytearray():
            return bytes(value)
        case float() if math.isnan(value):
            return "NaN"
        case Decimal():
            return str(value)
        case datetime() if data_type == "TIMESTAMP":
            return pa.scalar(value, pa.timestamp("us", "UTC")).value
        case _:
            return value


def test_every_value_is_every_type_that_it_is_in_spark(spark: "SparkSession") -> None:
    zone = spark.conf.get("spark.sql.session.timeZone") or "UTC"
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        literals = ", ".join(
            f"to_variant_object(named_struct('a', CAST({sql} AS VARIANT)))"
            for sql, _ in CASES
        )
        rows = spark.sql(f"SELECT posexplode(array({literals})) AS (n, v)")
        collected = rows.selectExpr("n", *map(told, TYPES)).orderBy("n").collect()
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
    texts = pa.array(
        [f'{{"type":"object","value":{{"a":{text}}}}}' for _, text in CASES]
    )

    for place, data_type in enumerate(TYPES, start=1):
        found = variant_get(
            texts, "$.a", data_type, or_null=True, typed_variants=True
        ).to_pylist()
        ours = [comparable(value, data_type) for value in found]
        theirs = [comparable(row[place], data_type) for row in collected]
        assert [
            (sql, data_type, our) for (sql, _), our in zip(CASES, ours, strict=True)
        ] == [
            (sql, data_type, their)
            for (sql, _), their in zip(CASES, theirs, strict=True)
        ]


@pytest.mark.parametrize(
    ("number", "data_type"), [("1.0E19", "BIGINT"), ("300", "TINYINT")]
)
def test_what_overflows_is_an_error_of_both(spark, number, data_type):
    from pyspark.errors import PySparkException

    sql = f"SELECT variant_get(parse_json('{number}'), '$', '{data_type}')"
    with pytest.raises(PySparkException, match="INVALID_VARIANT_CAST"):
        spark.sql(sql).collect()
    with pytest.raises(VariantCastError, match="is no"):
        variant_get(pa.array([number]), "$", data_type)
