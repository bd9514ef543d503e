"""What is evaluated here, and files that are left out, in sessions of every setting.

What is not said to depend on the session has Spark's values in it, and no file is left
out that Spark finds a row in, nor taken whole that holds another.
"""

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as drawing

from deltaweb.delta.protocol.schema import schema_of_arrow
from deltaweb.expressions.condition import SQLCondition
from deltaweb.expressions.session.dependence import Dependence
from deltaweb.writer.matching import find_matches
from tests.spark.drawn_rows import rows_of_spark
from tests.spark.settings_cases import KOLKATA, NEW_YORK, settings
from tests.support import cases
from tests.support.conditions.drawn_examples import examples
from tests.support.conditions.drawn_expressions import conditions
from tests.support.tables.table_builder import TableBuilder
from tests.support.tables.typed_rows import ROWS as DRAWN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from deltaweb.table import DeltaTable

pytestmark = pytest.mark.spark

SESSIONS = {
    "UTC, no ANSI": ("UTC", False),
    "New York": (NEW_YORK, True),
    "New York, no ANSI": (NEW_YORK, False),
    "Kolkata": (KOLKATA, True),
    "Kolkata, no ANSI": (KOLKATA, False),
}


@pytest.fixture(scope="module")
def view(spark: "SparkSession") -> "SparkSession":
    """A session whose view `drawn` is evaluated by the driver, without a job."""
    kinds = {"w": "timestamp_ntz", "t": "timestamp"}
    schema = spark.createDataFrame(DRAWN).schema
    said = (f"{f.name} {kinds.get(f.name, f.dataType.simpleString())}" for f in schema)
    spark.createDataFrame(DRAWN, ", ".join(said)).createOrReplaceTempView("drawn")
    return spark


@pytest.fixture(scope="module")
def tables() -> "list[DeltaTable]":
    """The rows in files of two, and by the values of some columns."""
    files = TableBuilder().columns(DRAWN.schema).build()
    for start in range(0, DRAWN.num_rows, 2):
        files.append(DRAWN.slice(start, 2))
    parts = TableBuilder().partitioned_by("f", "day", "t", "w", "i").rows(DRAWN).build()
    return [files, parts]


@cases("time_zone, ansi", SESSIONS, often={"UTC, no ANSI", "New York"})
@given(sql=conditions())
@drawing(max_examples=examples(36))
def test_what_does_not_depend_on_a_session_is_as_spark_has_it(
    view: "SparkSession",
    tables: "list[DeltaTable]",
    time_zone: str,
    ansi: bool,  # noqa: FBT001  # a parameter
    sql: str,
) -> None:
    from deltaweb.spark.writing.session.settings import settings_of

    with settings(view, time_zone=time_zone, ansi=ansi):
        told = settings_of(view)
        expected = rows_of_spark(view, sql)
    if expected is None:
        return  # whatever is read, Spark refuses it

    schema = schema_of_arrow(DRAWN.schema)
    if not Dependence(schema, told).of(sql):
        [batch] = DRAWN.combine_chunks().to_batches()
        holds = SQLCondition(sql, schema).holds(batch)
        assert sorted(batch.filter(holds)["row"].to_pylist()) == expected
    for table in tables:
        snapshot = table.snapshot()
        found = find_matches(snapshot, sql, is_evaluated_here=False, settings=told)
        whole, partly = (
            {n for file in files for n in numbers(table, file)}
            for files in (rows_of(found.whole), rows_of(found.partly))
        )
        assert whole <= {*expected}
        assert {*expected} <= whole | partly


def rows_of(files: pa.Table) -> list[pa.Table]:
    return [files.slice(place, 1) for place in range(files.num_rows)]


def numbers(table: "DeltaTable", file: pa.Table) -> list[int]:
    """Return the numbers of the rows of a file, by its statistics."""
    known = KNOWN.setdefault(table.root, {})
    path = file["path"][0].as_py()
    if path not in known:
        batches = table.snapshot().file_rows(file)
        known[path] = [n for rows in batches for n in rows.column("row").to_pylist()]
    return known[path]


KNOWN: dict[str, dict[str, list[int]]] = {}
