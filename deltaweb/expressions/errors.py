"""The errors of SQL expressions over rows.

ExpressionError                it cannot be used here
└── ExpressionMistakenError    nor anywhere else
    └── NotOfRowError          for it reaches beyond its row
ExpressionValueError           it has no value for a row
└── ExpressionTooLargeError    for it is too large
"""

from typing import Final

from deltaweb.delta.errors import DeltaError, PredicateError

UNSETTLED: Final = "its value changes with each evaluation"
REFUSED_EVERYWHERE: Final = "Correct it: Spark would refuse it, too."


class ExpressionError(PredicateError, code="expression-unsupported"):
    sql: str
    message = "The expression {sql:q} cannot be used: {reason}."
    hint = "Write it with other functions, or let Spark do it."


class ExpressionMistakenError(ExpressionError, code="expression-mistaken"):
    """An expression is no SQL, names no column, or is no function of the row."""

    hint: str = REFUSED_EVERYWHERE


class NotOfRowError(ExpressionMistakenError, code="expression-not-of-row"):
    """An expression reads more than its row: a query, a file, a setting."""

    hint: str = "Use columns of the row and functions of their values."


class ExpressionValueError(DeltaError, code="expression-value"):
    sql: str
    reason: str
    message = "The expression {sql:q} has no value for a row: {reason}."
    hint = "Guard it with CASE WHEN, or leave those rows out."


class ExpressionTooLargeError(ExpressionValueError, code="expression-too-large"):
    """An expression makes so much of rows that it is not made."""

    function: str
    num_bytes: int
    num_rows: int
    most_bytes: int
    is_final: bool
    reason: str = "{function} makes too large values for {_rows}"
    message = (
        "The expression {sql:q} makes too large values: {function} needs {num_bytes:,}"
        " bytes for {_rows}, and the limit is {most_bytes:,}."
    )
    hint = "Make shorter texts, or evaluate it only for rows with shorter texts."

    @property
    def _rows(self) -> str:
        return "one row" if self.num_rows == 1 else f"{self.num_rows:,} rows"
