"""What an expression is made of: its operands, and which of them become one type."""

from typing import Final

from sqlglot import exp

from deltaweb.conditions.sql import COMPARISONS

PAIRS: Final = (*COMPARISONS, exp.NullSafeNEQ, exp.Nullif)
"""What compares two operands by an operator."""
VALUES: Final = (exp.Column, exp.Dot, exp.Literal, exp.Boolean, exp.Null)
"""What has no operands."""


def operands(expression: exp.Expr) -> list[exp.Expr]:
    """Return the values that an expression is made of."""
    if isinstance(expression, VALUES):
        return []
    if isinstance(expression, exp.Case):
        parts = [expression.this, expression.args.get("default")]
        for branch in expression.args["ifs"]:
            parts += [branch.this, branch.args["true"]]
        return _present(*parts)
    kinds = exp.DataType | exp.Var | exp.Identifier
    return [
        part for part in expression.iter_expressions() if not isinstance(part, kinds)
    ]


def joined(expression: exp.Expr) -> list[list[exp.Expr]] | None:
    """Return the operands that become one type, those of each type together.

    None for an expression that makes nothing so.
    """
    args = expression.args
    groups: list[list[exp.Expr]] | None = None
    match expression:
        case exp.Between():
            groups = [[expression.this, args[side]] for side in ("low", "high")]
        case exp.In() | exp.Coalesce():
            groups = [[expression.this, *expression.expressions]]
        case exp.If() | exp.Nvl2():
            groups = [_present(args["true"], args.get("false"))]
        case exp.Case():
            branches = args["ifs"]
            values = [branch.args["true"] for branch in branches]
            groups = [_present(*values, args.get("default"))]
            if expression.this:
                groups += [[expression.this, branch.this] for branch in branches]
        case _ if isinstance(expression, PAIRS):
            groups = [[expression.this, expression.expression]]
    return groups


def _present(*parts: exp.Expr | None) -> list[exp.Expr]:
    return [part for part in parts if part]
