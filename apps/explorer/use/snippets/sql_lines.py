"""The lines of a SELECT, in the SQL of one reader."""

from apps.explorer.use.snippets.shown_view import ShownView
from deltaweb.conditions.dialects import SQLDialect


def select_lines(view: ShownView, dialect: SQLDialect, source: str) -> list[str]:
    """Return a query of a view, a clause a line."""
    columns = ", ".join(selected(view, dialect)) or "*"
    conditions = condition_lines(view, dialect)
    where = [f"WHERE {conditions[0]}"] if conditions else []
    more = [f"  AND {condition}" for condition in conditions[1:]]
    return [f"SELECT {columns}", f"FROM {source}", *where, *more]


def selected(view: ShownView, dialect: SQLDialect) -> list[str]:
    """Return what is selected for each column of a view."""
    return [
        f"{column_value(name, view, dialect)} AS {dialect.name(name)}"
        if name in view.parts
        else dialect.name(name)
        for name in view.columns
    ]


def column_value(name: str, view: ShownView, dialect: SQLDialect) -> str:
    """Return what has the values of a column; Spark alone has parts of variants."""
    part = view.parts.get(name)
    if part is None:
        return dialect.name(name)
    path, type_text = dialect.text(part.path), dialect.text(part.type_text)
    return f"try_variant_get({dialect.name(part.column)}, {path}, {type_text})"


def condition_lines(view: ShownView, dialect: SQLDialect) -> list[str]:
    """Return each condition of a view; Spark alone has those in SQL."""
    sql = [f"({_with_parts(text, view, dialect)})" for text in view.sql]
    return sql + [
        dialect.condition(wanted.node, lambda name: column_value(name, view, dialect))
        for wanted in view.filters
    ]


def _with_parts(sql: str, view: ShownView, dialect: SQLDialect) -> str:
    """Return a condition whose parts of variants, which are quoted, are of Spark."""
    for name in view.parts:
        sql = sql.replace(dialect.name(name), column_value(name, view, dialect))
    return sql
