"""The errors of SQL expressions over rows."""

from deltaweb.delta.errors import DeltaError, PredicateError


class ExpressionError(PredicateError, code="expression-unsupported"):
    """An expression does not parse, does not fit the schema, or is not done here."""

    sql: str
    message = "The expression {sql:q} cannot be used: {reason}."
    hint = "Write it with other functions, or let Spark do it."


class ExpressionValueError(DeltaError, code="expression-value"):
    """An expression has no value for a row, as where it divides by zero."""

    sql: str
    reason: str
    message = "The expression {sql:q} has no value for a row: {reason}."
    hint = "Guard it with CASE WHEN, or leave those rows out."
