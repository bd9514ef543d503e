"""The lines of a SELECT, in the SQL of one reader."""

from apps.explorer.rows.sql_dialects import SQLDialect
from apps.explorer.use.snippets.shown_view import ShownView


def select_lines(view: ShownView, dialect: SQLDialect, source: str) -> list[str]:
    """Return a query of a view, a clause a line.

    Args:
        view: The columns and conditions.
        dialect: Whose SQL it is.
        source: What follows FROM.
    """
    columns = ", ".join(dialect.name(name) for name in view.columns) or "*"
    conditions = condition_lines(view, dialect)
    where = [f"WHERE {conditions[0]}"] if conditions else []
    more = [f"  AND {condition}" for condition in conditions[1:]]
    return [f"SELECT {columns}", f"FROM {source}", *where, *more]


def condition_lines(view: ShownView, dialect: SQLDialect) -> list[str]:
    """Return each condition of a view."""
    return [
        dialect.condition(
            wanted.column, wanted.operator, wanted.operand, wanted.type_name
        )
        for wanted in view.filters
    ]
