"""What a condition asks of the recipient that it is held against.

`recipient.name` and `recipient.<property>` stand for values of the recipient. They
come into the parsed condition as literals of their own type, so no value is ever read
as SQL; a property that the recipient does not have is NULL, which makes no row visible.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from sqlglot import exp

from deltaweb.conditions.sql import COMPARISONS, conjuncts
from deltaweb.conditions.sql_text import SQLText
from deltaweb.delta.errors import PredicateError
from deltaweb.delta.protocol.schema import StructType

RECIPIENT: Final = "recipient"
NAME: Final = "name"

NULL_SAFE: Final = "<=>"

Property: TypeAlias = str | int | bool
"""A value of a recipient."""


def asked_properties(condition: SQLText) -> frozenset[str]:
    """Return the names of the recipient's values that a condition asks for."""
    columns = condition.tree.find_all(exp.Column)
    return frozenset(column.name.lower() for column in columns if _is_asked(column))


def bound_to(
    condition: SQLText, properties: Mapping[str, Property], schema: StructType
) -> SQLText:
    """Return a condition with the values of a recipient in it.

    Args:
        properties: Values by their names in lower case; `NAME` is one of them.
    """
    if not asked_properties(condition):
        return condition
    if schema.find(RECIPIENT) is not None:
        reason = f"{RECIPIENT!r} is a column of the table as well"
        raise PredicateError(reason=reason)

    def bound(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and _is_asked(node):
            return _literal(properties.get(node.name.lower()))
        return node

    tree = condition.tree.copy().transform(bound)
    return SQLText(condition.text, condition.tokens, tree)


def is_never_true(condition: SQLText) -> bool:
    """Whether a part that has to be true compares with NULL, which no row fulfils.

    This is the case if a recipient lacks a property. A condition for which it returns
    False may not be true for any row either.
    """
    return any(
        COMPARISONS.get(type(part), NULL_SAFE) != NULL_SAFE
        and any(
            isinstance(side.unnest(), exp.Null) for side in (part.this, part.expression)
        )
        for _, part in conjuncts(condition)
    )


def _is_asked(column: exp.Column) -> bool:
    parts = column.parts
    return len(parts) == 2 and parts[0].name.lower() == RECIPIENT  # noqa: PLR2004 (of what)


def _literal(value: Property | None) -> exp.Expr:
    if value is None:
        return exp.Null()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, str):
        return exp.Literal.string(value)
    number = exp.Literal.number(str(abs(value)))
    return exp.Neg(this=number) if value < 0 else number
