"""The columns that a rule of a table names, such as a CHECK constraint.

Source: Spark, "Identifiers": parts are separated by dots, backticks quote a part, and
upper and lower case are one.
"""

from functools import lru_cache

from sqlglot import exp

from deltaweb.conditions.sql import column_names
from deltaweb.conditions.sql_text import parse_sql
from deltaweb.delta.errors import PredicateError
from deltaweb.delta.protocol.column_path import ColumnPath, may_name


def names_column(sql: str, path: ColumnPath) -> bool:
    """Return whether SQL names a column, a column within it, or a struct around it.

    SQL that does not parse counts as naming every column whose name it contains.

    Args:
        path: The parts of the column's name, as SQL has them.
    """
    names = _named(sql)
    if names is None:
        return may_name(sql, path)
    wanted = [part.lower() for part in path]
    return any(
        all(one == other for one, other in zip(wanted, name, strict=False))
        for name in names
    )


def named_columns(sql: str) -> frozenset[ColumnPath]:
    """Return the columns that SQL names, in lower case; none if it does not parse."""
    return _named(sql) or frozenset()


def names_source_column(sql: str, qualifier: str, name: str) -> bool:
    """Return whether SQL of a merge names a column, with or without a qualifier."""
    names, wanted = _named(sql), name.lower()
    if names is None:
        return may_name(sql, (name,))
    return any(one[0] == wanted or one[:2] == (qualifier, wanted) for one in names)


@lru_cache(maxsize=256)
def _named(sql: str) -> frozenset[ColumnPath] | None:
    try:
        tree = parse_sql(sql).tree
    except PredicateError:
        return None
    found = set()
    for column in tree.find_all(exp.Column):
        whole: exp.Expr = column
        while isinstance(whole.parent, exp.Dot) and whole.parent.this is whole:
            whole = whole.parent
        found.add(tuple(part.lower() for part in column_names(whole)))
    return frozenset(found)
