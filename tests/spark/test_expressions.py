"""What is evaluated in process has the values that Spark gives, and finds its rows."""

import math
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from deltaweb.delta.protocol.schema import schema_of_arrow
from deltaweb.expressions.compiler import compile_sql
from deltaweb.expressions.mistakes import SPARK_FUNCTIONS
from tests.spark.drawn_rows import VIEW, DrawnRows
from tests.support.conditions.drawn_examples import examples
from tests.support.conditions.drawn_expressions import conditions
from tests.support.conditions.expression_cases import (
    CONDITIONS,
    ROWS,
    VALUES,
    WITHOUT_VALUE,
)
from tests.support.tables.typed_rows import ROWS as DRAWN

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def rows(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory):
    file: Path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    pq.write_table(ROWS, file)
    spark.conf.set("spark.sql.ansi.enabled", "true")
    return spark.read.parquet(str(file)).coalesce(1).orderBy("row")


def ours(sql: str) -> list[Any]:
    [batch] = ROWS.to_batches()
    found = compile_sql(sql, schema_of_arrow(ROWS.schema)).values(batch)
    return [comparable(value) for value in found.to_pylist()]


def comparable(value: Any) -> Any:  # noqa: ANN401  # of any type
    match value:
        case bytearray():
            return bytes(value)
        case float() if math.isnan(value):
            return "NaN"
        case Decimal():
            return value.normalize() + 0
        case datetime():
            return value.replace(tzinfo=None)
        case date():
            return value.isoformat()
        case _:
            return value


def test_every_expression_has_the_values_of_spark(rows: "DataFrame") -> None:
    expressions = (*CONDITIONS, *VALUES)
    selected = rows.selectExpr(
        *(f"{sql} AS c{number}" for number, sql in enumerate(expressions))
    )
    collected = selected.collect()

    for number, sql in enumerate(expressions):
        theirs = [comparable(row[number]) for row in collected]
        assert (sql, ours(sql)) == (sql, theirs)


@pytest.mark.parametrize("sql", WITHOUT_VALUE)
def test_what_has_no_value_here_is_an_error_of_spark_too(rows: "DataFrame", sql: str):
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException):
        rows.selectExpr(f"CAST({sql} AS BIGINT)").collect()


def test_the_functions_that_are_known_are_those_that_spark_has(spark: "SparkSession"):
    shown = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}

    assert {name for name in shown if name[0].isalpha()} == SPARK_FUNCTIONS


# === Conditions, drawn at random ===


@pytest.fixture(scope="module")
def view(spark: "SparkSession") -> "SparkSession":
    """A session whose view `drawn` is evaluated by the driver, without a job."""
    spark.conf.set("spark.sql.ansi.enabled", "true")
    spark.createDataFrame(DRAWN).createOrReplaceTempView(VIEW)
    return spark


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> DrawnRows:
    folder = tmp_path_factory.mktemp("drawn")
    return DrawnRows.write(folder, DRAWN, "f", "p", "d", "t")


@given(sql=conditions())
@settings(max_examples=examples(60))
def test_rows_that_are_read_and_deleted_are_those_of_spark(view, drawn, sql):
    drawn.check(view, sql)
