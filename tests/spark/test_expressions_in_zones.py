"""What is evaluated in process in a zone is what a session of Spark in it finds."""

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from deltaweb.delta.protocol.schema import schema_of_arrow
from tests.spark.conftest import FOR_SOME_ROWS
from tests.spark.drawn_rows import VIEW, DrawnRows
from tests.support.conditions.drawn_examples import examples
from tests.support.conditions.drawn_expressions import conditions_on_times
from tests.support.tables.zoned_rows import ROWS, ZONES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCHEMA = schema_of_arrow(ROWS.schema)


OFTEN = "America/New_York"


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(zone, marks=() if zone == OFTEN else pytest.mark.exhaustive)
        for zone in ZONES
    ],
)
def session(spark: "SparkSession", request: pytest.FixtureRequest) -> "SparkSession":
    """A session of a zone; its view `drawn` is evaluated by the driver."""
    from deltaweb.spark.writing.spark_types import spark_schema

    own = spark.newSession()
    for name, value in FOR_SOME_ROWS.items():
        own.conf.set(name, value)
    own.conf.set("spark.sql.ansi.enabled", "true")
    # Else a clock's times would be taken for instants.
    rows = own.createDataFrame(ROWS, spark_schema(SCHEMA))
    rows.createOrReplaceTempView(VIEW)
    own.conf.set("spark.sql.session.timeZone", request.param)
    return own


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> DrawnRows:
    return DrawnRows.write(tmp_path_factory.mktemp("drawn"), ROWS, "day", "t", "w")


@given(sql=conditions_on_times())
@settings(max_examples=examples(36))
def test_rows_that_are_read_and_deleted_are_those_of_spark_in_the_zone(
    session: "SparkSession", drawn: DrawnRows, sql: str
) -> None:
    zone = session.conf.get("spark.sql.session.timeZone")
    assert zone is not None

    drawn.check(session, sql, zone)
