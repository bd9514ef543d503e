"""The errors of SQL expressions over rows.

ExpressionError                it cannot be used here
└── ExpressionMistakenError    nor anywhere else
ExpressionValueError           it has no value for a row
"""

from typing import Final

from deltaweb.delta.errors import DeltaError, PredicateError

UNSETTLED: Final = "its value is another each time it is looked at"


class ExpressionError(PredicateError, code="expression-unsupported"):
    """An expression does not parse, does not fit the schema, or is not done here."""

    sql: str
    message = "The expression {sql:q} cannot be used: {reason}."
    hint = "Write it with other functions, or let Spark do it."


class ExpressionMistakenError(ExpressionError, code="expression-mistaken"):
    """An expression is no SQL, names no column, or is no function of the row."""

    hint: str = "Correct it: Spark would refuse it, too."


class ExpressionValueError(DeltaError, code="expression-value"):
    """An expression has no value for a row, as where it divides by zero."""

    sql: str
    reason: str
    message = "The expression {sql:q} has no value for a row: {reason}."
    hint = "Guard it with CASE WHEN, or leave those rows out."
