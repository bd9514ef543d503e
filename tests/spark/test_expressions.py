"""What is evaluated in process has the values that Spark gives, and finds its rows."""

import math
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from deltaweb.delta.protocol.schema import schema_of_arrow
from deltaweb.delta.scan.rows import read_rows
from deltaweb.expressions.compiler import compile_sql
from deltaweb.expressions.condition import SQLCondition
from deltaweb.expressions.errors import (
    ExpressionError,
    ExpressionMistakenError,
    ExpressionValueError,
)
from deltaweb.expressions.mistaken.spark_functions import SPARK_FUNCTIONS
from tests.drawn_examples import examples
from tests.drawn_expressions import conditions
from tests.expression_cases import CONDITIONS, ROWS, VALUES, WITHOUT_VALUE
from tests.row_tables import Table
from tests.typed_rows import BAD_TEXTS
from tests.typed_rows import ROWS as DRAWN
from tests.written_rows import new_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from deltaweb.table import DeltaTable

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def rows(
    spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory
) -> "DataFrame":
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
def test_what_has_no_value_here_is_an_error_of_spark_too(
    rows: "DataFrame", sql: str
) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException):
        rows.selectExpr(f"CAST({sql} AS BIGINT)").collect()


def test_the_functions_that_are_known_are_those_that_spark_has(
    spark: "SparkSession",
) -> None:
    shown = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}

    assert {name for name in shown if name[0].isalpha()} == SPARK_FUNCTIONS


# === Conditions, drawn at random ===

PARTITIONED_BY = ("f", "p", "d", "t")


@pytest.fixture(scope="module")
def view(spark: "SparkSession") -> "SparkSession":
    """A session whose view `drawn` is evaluated by the driver, without a job."""
    spark.conf.set("spark.sql.ansi.enabled", "true")
    spark.createDataFrame(DRAWN).createOrReplaceTempView("drawn")
    return spark


@pytest.fixture(scope="module")
def tables() -> "list[DeltaTable]":
    """The rows in files of two, and in a file for each value of some columns."""
    files = new_table(DRAWN.schema)
    for start in range(0, DRAWN.num_rows, 2):
        files.append(DRAWN.slice(start, 2))
    parts = new_table(DRAWN.schema, *PARTITIONED_BY)
    parts.append(DRAWN)
    return [files, parts]


@pytest.fixture(scope="module")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> Table:
    """The rows in one file of five row groups."""
    table = Table(tmp_path_factory.mktemp("grouped"), schema_of_arrow(DRAWN.schema))
    table.add(DRAWN, row_group_size=2)
    return table


def found(read: "Callable[[], Any]") -> list[int] | Exception:
    """Return the numbers of rows, or why there are none."""
    try:
        return sorted(read()["row"].to_pylist())
    except (ExpressionError, ExpressionValueError) as error:
        return error


def selected(source: "DeltaTable | Table", sql: str) -> list[list[int] | Exception]:
    """Return the rows that are read, and those that would be deleted."""
    if isinstance(source, Table):
        condition = SQLCondition(sql, source.schema)
        return [found(lambda: read_rows(source.source, predicate=condition))]
    return [
        found(lambda: source.snapshot().read(["row"], sql)),
        found(lambda: source.plan_delete(sql).before),
    ]


def rows_of_spark(session: "SparkSession", sql: str) -> list[int] | None:
    """Return the numbers of rows; None where Spark raises."""
    from pyspark.errors import PySparkException

    try:
        rows = session.table("drawn").filter(sql).select("row").collect()
        return sorted(row["row"] for row in rows)
    except PySparkException:
        return None


@given(sql=conditions())
@settings(max_examples=examples(60))
def test_rows_that_are_read_and_deleted_are_those_of_spark(
    view: "SparkSession", tables: "list[DeltaTable]", grouped: Table, sql: str
) -> None:
    expected = rows_of_spark(view, sql)
    schema = schema_of_arrow(DRAWN.schema)
    [batch] = DRAWN.combine_chunks().to_batches()

    judged = found(lambda: batch.filter(SQLCondition(sql, schema).holds(batch)))

    if isinstance(judged, ExpressionMistakenError) and expected is not None:
        # A text that is no value is refused even where Spark never looks at it.
        assert any(text in sql for text in BAD_TEXTS)
        assert " is no " in judged.reason
    elif expected is None:
        assert isinstance(judged, Exception)
    else:
        assert judged == expected
        sources: list[DeltaTable | Table] = [*tables, grouped]
        for source in sources:
            assert all(rows == expected for rows in selected(source, sql))
