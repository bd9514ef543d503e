"""What is evaluated in process in a zone is what a session of Spark in it finds."""

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from deltaweb.delta.protocol.schema import schema_of_arrow
from deltaweb.delta.scan.rows import read_rows
from deltaweb.expressions.condition import SQLCondition
from deltaweb.expressions.errors import (
    ExpressionError,
    ExpressionMistakenError,
    ExpressionValueError,
)
from deltaweb.table import DeltaTable
from tests.drawn_examples import examples
from tests.drawn_expressions import conditions_on_times
from tests.row_tables import Table
from tests.spark.conftest import FOR_SOME_ROWS
from tests.typed_rows import BAD_TEXTS
from tests.written_rows import new_table
from tests.zoned_rows import ROWS, ZONES

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCHEMA = schema_of_arrow(ROWS.schema)


@pytest.fixture(scope="module", params=ZONES)
def session(spark: "SparkSession", request: pytest.FixtureRequest) -> "SparkSession":
    """A session of a zone; its view `drawn` is evaluated by the driver."""
    from deltaweb.spark.writing.spark_types import spark_schema

    own = spark.newSession()
    for name, value in FOR_SOME_ROWS.items():
        own.conf.set(name, value)
    own.conf.set("spark.sql.ansi.enabled", "true")
    # Else a clock's times would be taken for instants.
    rows = own.createDataFrame(ROWS, spark_schema(SCHEMA))
    rows.createOrReplaceTempView("drawn")
    own.conf.set("spark.sql.session.timeZone", request.param)
    return own


@pytest.fixture(scope="module")
def tables() -> list[DeltaTable]:
    """The rows in files of two, and in a file for each value of some columns."""
    files = new_table(ROWS.schema)
    for start in range(0, ROWS.num_rows, 2):
        files.append(ROWS.slice(start, 2))
    parts = new_table(ROWS.schema, "day", "t", "w")
    parts.append(ROWS)
    return [files, parts]


@pytest.fixture(scope="module")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> Table:
    """The rows in one file of five row groups."""
    table = Table(tmp_path_factory.mktemp("grouped"), SCHEMA)
    table.add(ROWS, row_group_size=2)
    return table


def found(read: "Callable[[], Any]") -> list[int] | Exception:
    """Return the numbers of rows, or why there are none."""
    try:
        return sorted(read()["row"].to_pylist())
    except (ExpressionError, ExpressionValueError) as error:
        return error


def rows_of_spark(session: "SparkSession", sql: str) -> list[int] | None:
    """Return the numbers of rows; None where Spark raises."""
    from pyspark.errors import PySparkException

    try:
        rows = session.table("drawn").filter(sql).select("row").collect()
        return sorted(row["row"] for row in rows)
    except PySparkException:
        return None


@given(sql=conditions_on_times())
@settings(max_examples=examples(60))
def test_rows_that_are_read_and_deleted_are_those_of_spark_in_the_zone(
    session: "SparkSession", tables: list[DeltaTable], grouped: Table, sql: str
) -> None:
    zone = session.conf.get("spark.sql.session.timeZone")
    assert zone is not None
    expected = rows_of_spark(session, sql)
    [batch] = ROWS.combine_chunks().to_batches()

    judged = found(lambda: batch.filter(SQLCondition(sql, SCHEMA, zone).holds(batch)))

    if isinstance(judged, ExpressionMistakenError) and expected is not None:
        # A text that is no value is refused even where Spark never looks at it.
        assert any(text in sql for text in BAD_TEXTS)
        assert " is no " in judged.reason
    elif expected is None:
        assert isinstance(judged, Exception)
    else:
        assert judged == expected
        condition = SQLCondition(sql, SCHEMA, zone)
        assert found(lambda: read_rows(grouped.source, predicate=condition)) == expected
        for table in tables:
            there = DeltaTable.from_store(table.store, time_zone=zone)
            assert found(lambda: there.snapshot().read(["row"], sql)) == expected  # noqa: B023  # called at once
            assert found(lambda: there.plan_delete(sql).before) == expected  # noqa: B023  # as above
