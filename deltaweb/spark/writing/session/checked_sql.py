"""SQL texts as Spark evaluates them: the one way from a text to a Column.

Texts are written by editors, by conditions of requests, and by whoever has written a
table's log. Three barriers keep them from reading anything but their row. Our parser
refuses queries and functions that open files. Spark's own parser must find no query,
before its analyzer opens the files that a query names. And what the analyzer makes of
the text must be a value of each row. `tests/unit/deltaweb/spark/test_sql_texts.py` sees
to it that no other module hands a text to Spark.
"""

from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name that all Spark code has)
from pyspark.sql.types import StructField

from deltaweb.expressions.compiler import parse_expression
from deltaweb.expressions.errors import (
    UNSETTLED,
    ExpressionError,
    ExpressionMistakenError,
    NotOfRowError,
)
from deltaweb.expressions.growth import refuse_growth
from deltaweb.expressions.row_only import (
    MAKES_SCHEMA,
    QUERY,
    SCHEMA_UNSEEN,
    TAKES_SCHEMA,
    TAKES_SCHEMA_LAST,
    named_outside,
    refuse_function,
)
from deltaweb.spark.driver.pyspark_internals import (
    analyzed_plan,
    children_of,
    has_parser,
    has_pattern,
    items_of,
    kind_of,
    parsed_expression,
)
from deltaweb.spark.writing.session.stored_values import OfExpression, check_type

SUBSTITUTES: Final = "spark.sql.variable.substitute"
"""Whether Spark puts settings and variables of the environment into texts."""
_OF_QUERIES: Final = ("PLAN_EXPRESSION", "FUNCTION_TABLE_RELATION_ARGUMENT_EXPRESSION")
_OF_NAMES: Final = ("UNRESOLVED_IDENTIFIER", "PARAMETER")
_PLAIN: Final = {"UnresolvedAttribute", "Literal"}


def sql_column(rows: DataFrame, sql: str) -> Column:
    """Return the value of an SQL expression for rows.

    Raises:
        ExpressionMistakenError: If it is not an expression over the row.
        ExpressionTooLargeError: If it may make too much of a row.
    """
    refuse_growth(sql, parse_expression(sql).tree)
    session = rows.sparkSession
    try:
        is_plain = _refuse_by_parser(session, sql)
        value = F.expr(sql)
        if not is_plain:
            _refuse_by_analyzer(rows, value, sql)
    except AnalysisException as error:  # a text that Spark cannot parse is one as well
        reason = str(error).strip().partition("\n")[0][:300]
        raise ExpressionMistakenError(sql=sql, reason=reason) from None
    except Py4JJavaError as error:
        reason = str(error.java_exception).partition("\n")[0][:300]
        raise ExpressionMistakenError(sql=sql, reason=reason) from None
    return value


def is_true(rows: DataFrame, where: str) -> Column:
    """Return where a condition is true: neither false nor unknown."""
    return F.coalesce(sql_column(rows, where), F.lit(False))  # noqa: FBT003  # a value


def check_condition(rows: DataFrame, sql: str) -> None:
    _check(rows, sql, is_true(rows, sql))


def check_value(
    rows: DataFrame, sql: str, column: StructField, *, may_lack: bool = False
) -> None:
    """Refuse SQL whose value a column does not take.

    Args:
        may_lack: Whether structs may lack fields that may be null.
    """
    found = _check(rows, sql, sql_column(rows, sql)).schema["value"].dataType
    check_type(found, column, OfExpression(sql, may_lack=may_lack))


def check_settled(rows: DataFrame, value: Column, sql: str) -> None:
    """Refuse an expression that is no function of the row.

    Rows would be looked at twice, and could be lost in between.
    """
    if not analyzed_plan(rows.select(value)).deterministic():
        raise ExpressionError(sql=sql, reason=UNSETTLED)


def _check(rows: DataFrame, sql: str, value: Column) -> DataFrame:
    try:
        found = rows.select(value.alias("value"))
        check_settled(rows, value, sql)
    except AnalysisException as error:
        reason = str(error).strip().partition("\n")[0][:300]
        raise ExpressionMistakenError(sql=sql, reason=reason) from None
    return found


# === What Spark makes of a text ===


def _refuse_by_parser(session: SparkSession, sql: str) -> bool:
    """Refuse what Spark's parser reads beyond the row; the analyzer has not seen it.

    Returns:
        Whether the text is a column or a literal, which reach nowhere.
    """
    if not has_parser(session):
        reason = "a session of Spark Connect does not show how it reads a text"
        hint = "Use a session with a driver of its own."
        raise ExpressionMistakenError(sql=sql, reason=reason, hint=hint)
    if "${" in sql and session.conf.get(SUBSTITUTES, "true") != "false":
        reason = "Spark would put a setting or a variable in the place of ${...}"
        raise NotOfRowError(sql=sql, reason=reason)
    parsed = parsed_expression(session, sql)
    if any(has_pattern(parsed, pattern) for pattern in _OF_QUERIES):
        raise NotOfRowError(sql=sql, reason=QUERY)
    if any(has_pattern(parsed, pattern) for pattern in _OF_NAMES):
        reason = "it names a parameter or a variable, or makes a name of a text"
        raise NotOfRowError(sql=sql, reason=reason)
    if any(named_outside(sql)):
        _refuse_functions(parsed, sql)
    return kind_of(parsed) in _PLAIN


def _refuse_functions(parsed: Any, sql: str) -> None:  # noqa: ANN401 (py4j has no types)
    waiting = [parsed]
    while waiting:
        node = waiting.pop()
        if not has_pattern(node, "UNRESOLVED_FUNCTION"):
            continue
        if kind_of(node) == "UnresolvedFunction":
            name = node.nameParts().last()
            refuse_function(sql, name, node.arguments().size())
            if name.lower() in TAKES_SCHEMA and not _shows_schema(node):
                raise NotOfRowError(sql=sql, reason=f"{name.lower()} {SCHEMA_UNSEEN}")
        waiting += children_of(node)


def _shows_schema(function: Any) -> bool:  # noqa: ANN401 (as above)
    """Whether a function is given its type in SQL: a text, or a `schema_of_...`.

    A type in JSON has a brace. In SQL only a strange name or a comment would.
    """
    given = [*items_of(function.arguments())]
    if any(kind_of(one) == "NamedArgumentExpression" for one in given):
        return False
    place = 2 if function.nameParts().last().lower() in TAKES_SCHEMA_LAST else 1
    if len(given) <= place:
        return True
    if kind_of(given[place]) == "UnresolvedFunction":
        return given[place].nameParts().last().lower() in MAKES_SCHEMA
    return kind_of(given[place]) == "Literal" and "{" not in str(given[place])


def _refuse_by_analyzer(rows: DataFrame, value: Column, sql: str) -> None:
    """Refuse a value that adds to the plan of rows anything but values of each row."""
    known = analyzed_plan(rows)
    plan = analyzed_plan(rows.select(value.alias("value")))
    while not plan.fastEquals(known):
        if kind_of(plan) != "Project":
            reason = "it is not a value of each row"
            raise NotOfRowError(sql=sql, reason=reason)
        expressions = plan.expressions()
        for place in range(expressions.size()):
            if has_pattern(expressions.apply(place), "PLAN_EXPRESSION"):
                raise NotOfRowError(sql=sql, reason=QUERY)
        (plan,) = children_of(plan)
