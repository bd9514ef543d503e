"""Changes that are refused, by the ways to ask for one of Spark."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.support.net.tables import ONLY_SPARK, NetTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Door = Callable[["SparkSession", NetTable, str, str], object]
"""Asks for a change that gives a column the value of some SQL."""


def fault_of(net: NetTable, name: str) -> tuple[str, str]:
    """Return a column, and SQL of a value that it does not take."""
    sql = net.shape.sql
    faults = {
        "a number that is too large": ("v", sql.replace("{n}", "(id + 3000000000L)")),
        "a text": ("v", sql.replace("{n}", "concat('a', id)")),
        "an unknown field": ("v", sql.replace("{n}", "id").replace("'X'", "'Z'")),
        "a field that is there twice": (
            "v",
            sql.replace("{n}", "id").replace("'Y'", "'x'"),
        ),
        "no value of a field": ("v", sql.replace("{n}", "CAST(NULL AS INT)")),
        "no value": ("id", "CAST(NULL AS BIGINT)"),
        "a row that breaks a rule": ("id", "id + 5000"),
        "an error of ANSI": ("w", "CAST(concat('a', id) AS INT)"),
        "an error of a function": ("s", "raise_error(concat('no ', id))"),
    }
    return faults[name]


_MISFIT = (
    r"'v[.\w]*'",
    "expression-unsupported",
    "expression-value",
    "schema-mismatch",
)
_BROKEN = ("NOT NULL", "constraint-violated")
_BY_SPARK = "change-not-evaluated"
FAULTS: dict[str, tuple[str, ...]] = {
    "a number that is too large": _MISFIT,
    "a text": _MISFIT,
    "an unknown field": _MISFIT,
    "a field that is there twice": _MISFIT,
    "no value of a field": _BROKEN,
    "no value": _BROKEN,
    "a row that breaks a rule": ("id < 1000", "constraint-violated"),
    "an error of ANSI": ("cannot be cast", _BY_SPARK),
    "an error of a function": ("no 1|no 8", _BY_SPARK),
}
"""What the message of each has, and the codes of errors that it may be."""


def update(spark: "SparkSession", net: NetTable, column: str, sql: str) -> object:
    from deltaweb.spark import update_rows

    return update_rows(spark, net.table.root, {column: sql}, f"{ONLY_SPARK} AND id = 1")


def merge_update(spark: "SparkSession", net: NetTable, column: str, sql: str) -> object:
    from deltaweb.spark import merge_rows

    source = _source(spark, net)
    merge = merge_rows(spark, net.table.root, source, "t.id = s.id")
    return merge.when_matched_update({column: _of_source(sql)}).execute()


def merge_insert(spark: "SparkSession", net: NetTable, column: str, sql: str) -> object:
    from deltaweb.spark import merge_rows

    source = _source(spark, net)
    values = {name: f"s.{name}" for name in net.columns} | {column: _of_source(sql)}
    merge = merge_rows(spark, net.table.root, source, "t.id = s.id + 90")
    return merge.when_not_matched_insert(values).execute()


def upsert(spark: "SparkSession", net: NetTable, column: str, sql: str) -> object:
    from deltaweb.spark import merge_rows

    source = _source(spark, net, column, sql)
    merge = merge_rows(spark, net.table.root, source, "t.s = s.s")
    return merge.when_matched_update().when_not_matched_insert().execute()


def append(spark: "SparkSession", net: NetTable, column: str, sql: str) -> object:
    from deltaweb.spark import write_table

    return write_table(_source(spark, net, column, sql), net.table.root)


def replace(spark: "SparkSession", net: NetTable, column: str, sql: str) -> object:
    from deltaweb.spark import write_table

    source, where = _source(spark, net, column, sql), f"{ONLY_SPARK} AND id <> 2"
    return write_table(source, net.table.root, "overwrite", where=where)


DOORS: dict[str, Door] = {
    "update": update,
    "merge, update": merge_update,
    "merge, insert": merge_insert,
    "upsert": upsert,
    "append": append,
    "replace where": replace,
}


def _source(
    spark: "SparkSession", net: NetTable, column: str = "id", sql: str = "id"
) -> "DataFrame":
    rows = spark.createDataFrame(net.source([net.row(1), net.row(8)]))
    return rows.selectExpr(
        *(f"{sql} AS {name}" if name == column else name for name in net.columns)
    )


def _of_source(sql: str) -> str:
    """Return SQL that takes the column `id` of the source."""
    return re.sub(r"\bid\b", "s.id", sql)
