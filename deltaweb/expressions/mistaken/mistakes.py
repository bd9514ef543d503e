"""What no engine evaluates: misspelt names, and values that are never the same.

An expression that is not done here may be done by Spark, which takes long to start.
"""

from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from deltaweb.delta.errors import ColumnNotFoundError
from deltaweb.delta.protocol.schema import DataType, StructType
from deltaweb.expressions.errors import UNSETTLED, ExpressionMistakenError
from deltaweb.expressions.mistaken.spark_functions import meant_functions

_UNSETTLED: Final = (exp.Rand, exp.Randn, exp.Uuid)
_WITHOUT_PARENTHESES: Final = frozenset(
    {
        "current_catalog",
        "current_database",
        "current_schema",
        "current_time",
        "localtimestamp",
        "user",
    }
)
"""Functions of Spark that the parser takes for columns."""


def refuse_mistakes(sql: str, tree: exp.Expr, schema: StructType) -> None:
    """Refuse an expression that cannot be right for rows of a schema."""
    if tree.find(*_UNSETTLED):
        raise ExpressionMistakenError(sql=sql, reason=UNSETTLED)
    for function in tree.find_all(exp.Anonymous):
        _refuse_misspelt(sql, function)
    if tree.find(exp.Select):
        return  # its names are of other rows, too
    for column in tree.find_all(exp.Column):
        names = [*_names(column)]
        if names and not _leads_somewhere(names, schema):
            fault = ColumnNotFoundError(column=".".join(names), columns=schema.names)
            reason = fault.message[:1].lower() + fault.message[1:].rstrip(".")
            raise ExpressionMistakenError(sql=sql, reason=reason, hint=fault.hint)


def _refuse_misspelt(sql: str, function: exp.Anonymous) -> None:
    """Refuse what is nearly a function of Spark; others may be those of a cluster."""
    is_qualified = isinstance(function.parent, exp.Dot)
    meant = meant_functions(function.name)
    if meant and not is_qualified:
        reason = f"there is no function {function.name!r}"
        hint = f"Did you mean {' or '.join(map(repr, meant))}?"
        raise ExpressionMistakenError(sql=sql, reason=reason, hint=hint)


def _names(column: exp.Column) -> Iterator[str]:
    for part in column.parts:
        if isinstance(part, exp.Star):
            return
        yield part.name


def _leads_somewhere(names: list[str], schema: StructType) -> bool:
    """Tell whether names may lead to a value; inside lists and maps all do."""
    if len(names) == 1 and names[0].lower() in _WITHOUT_PARENTHESES:
        return True
    data_type: DataType = schema
    for name in names:
        if not isinstance(data_type, StructType):
            return True
        column = data_type.find(name)
        if column is None:
            return False
        data_type = column.data_type
    return True
