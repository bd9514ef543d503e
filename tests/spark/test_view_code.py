"""Spark reads the code of `Use this table`: its parser, and its filters on rows.

Delta's own classes are not here: the rows come from our reader in their place.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from apps.explorer.use.snippets import ShownView, view_snippets
from deltaweb.table import DeltaTable
from tests.support.pages.shown_views import (
    COLUMNS,
    CONDITIONS,
    FOLDERS,
    expected_rows,
    shown_view,
    write_table,
)
from tests.support.tables.variant_tables import USER_ID, ZIP_CODE, write_events

PARTS = [
    *(pytest.param(on, ("id", "tick`s"), id=name) for name, on in CONDITIONS.items()),
    *(pytest.param((), columns, id=name) for name, columns in COLUMNS.items()),
]


@dataclass
class Reader:
    """Stands where `spark.read.format("delta")` does, for one version."""

    rows: DataFrame
    asked: list[object]

    @property
    def read(self) -> "Reader":
        return self

    def format(self, name: str) -> "Reader":
        self.asked.append(name)
        return self

    def option(self, name: str, value: object) -> "Reader":
        self.asked += [name, value]
        return self

    def load(self, path: str) -> DataFrame:
        self.asked.append(path)
        return self.rows


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A table of odd columns in a folder of an odd name."""
    return write_table(tmp_path_factory.mktemp("lake") / FOLDERS[-1])


@pytest.fixture(scope="module")
def rows(spark: SparkSession, location: str) -> DataFrame:
    read = DeltaTable(location).snapshot(0).read()
    return spark.createDataFrame(read)


@pytest.mark.parametrize(("filters", "columns"), PARTS)
def test_code_finds_the_rows_of_the_page(spark, rows, location, filters, columns):
    view = shown_view(location, *filters, columns=columns)
    expected, code = expected_rows(view), code_of(view)

    reader = Reader(rows, [])
    names: dict[str, Any] = {"spark": reader}
    exec(code["pyspark"].replace("orders.show()", ""), names)  # noqa: S102 (what people are told to run)
    assert reader.asked == ["delta", "versionAsOf", 0, location]
    assert found(names["orders"]) == expected

    query = code["sql"]
    table = f"delta.`{location.replace('`', '``')}` VERSION AS OF 0"
    parsed = spark._jsparkSession.sessionState().sqlParser().parsePlan(query)  # noqa: SLF001 (no public way)
    rows.createOrReplaceTempView("orders")
    assert table in query
    shown = spark.sql(query.replace(table, "orders"))

    assert "RelationTimeTravel" in parsed.toString()
    assert found(shown) == expected


def test_parts_of_variants_are_what_spark_finds(spark: SparkSession, tmp_path: Path):
    folder = str(write_events(tmp_path / "events", shredded=True))
    rows = spark.createDataFrame(DeltaTable(folder).snapshot().read())
    rows = rows.selectExpr("id", "parse_json(v) AS v")
    columns = ("id", ZIP_CODE, "v:$.user.id::double", "v:$.user.id::string")
    view = shown_view(folder, f"{USER_ID}:ge:8", columns=columns)
    code = code_of(view)
    names: dict[str, Any] = {"spark": Reader(rows, [])}
    rows.createOrReplaceTempView("events")

    exec(code["pyspark"].replace("orders.show()", ""), names)  # noqa: S102 (as above)
    by_sql = spark.sql(
        code["sql"].replace(f"delta.`{folder}` VERSION AS OF 0", "events")
    )

    assert len(expected_rows(view)) == 2
    assert found(names["orders"]) == found(by_sql) == expected_rows(view)


def code_of(view: ShownView) -> dict[str, str]:
    return {made.key: made.text for made in view_snippets(view)}


def found(shown: DataFrame) -> list[dict[str, object]]:
    return sorted(shown.toArrow().to_pylist(), key=repr)
