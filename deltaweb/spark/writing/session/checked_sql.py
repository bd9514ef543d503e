"""SQL that Spark evaluates, once it is known to be SQL and a function of the row."""

from collections.abc import Callable

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (the name that all Spark code has)
from pyspark.sql.types import NullType, StringType, StructField

from deltaweb.expressions.errors import (
    UNSETTLED,
    ExpressionError,
    ExpressionMistakenError,
)
from deltaweb.spark.driver.pyspark_internals import analyzed_plan


def is_true(where: str) -> Column:
    """Return where a condition is true: neither false nor unknown."""
    return F.coalesce(F.expr(where), F.lit(False))  # noqa: FBT003  # a value


def check_condition(rows: DataFrame, sql: str) -> None:
    _check(rows, sql, is_true)


def check_value(rows: DataFrame, sql: str, column: StructField) -> None:
    wanted = column.dataType
    found = _check(rows, sql, F.expr).schema["value"].dataType
    is_text = isinstance(found, StringType)
    if not isinstance(found, NullType) and is_text != isinstance(wanted, StringType):
        kinds = wanted.simpleString(), found.simpleString()
        reason = f"{column.name!r} is {kinds[0]}, and it is {kinds[1]}"
        raise ExpressionError(sql=sql, reason=reason)


def check_settled(rows: DataFrame, value: Column, sql: str) -> None:
    """Refuse an expression that is no function of the row.

    Rows would be looked at twice, and could be lost in between.
    """
    if not analyzed_plan(rows.select(value)).deterministic():
        raise ExpressionError(sql=sql, reason=UNSETTLED)


def _check(rows: DataFrame, sql: str, parsed: Callable[[str], Column]) -> DataFrame:
    try:
        value = parsed(sql)
        found = rows.select(value.alias("value"))
        check_settled(rows, value, sql)
    except AnalysisException as error:  # what is no SQL at all is one, too
        reason = str(error).partition("\n")[0][:300]
        raise ExpressionMistakenError(sql=sql, reason=reason) from None
    return found
