"""Names and literals of a parsed condition."""

from sqlglot import exp

from deltaweb.delta.errors import PredicateError
from deltaweb.sharing.sql_literals import Literal
from deltaweb.sharing.sql_text import shown

OPERATORS = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
SWAPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NUMBER_TYPES = frozenset(
    {
        exp.DataType.Type.TINYINT,
        exp.DataType.Type.SMALLINT,
        exp.DataType.Type.INT,
        exp.DataType.Type.BIGINT,
        exp.DataType.Type.FLOAT,
        exp.DataType.Type.DOUBLE,
        exp.DataType.Type.DECIMAL,
    }
)
_CAST_KINDS = {
    exp.DataType.Type.DATE: "date",
    exp.DataType.Type.TIMESTAMP: "timestamp",
    exp.DataType.Type.TIMESTAMPTZ: "timestamp",
    exp.DataType.Type.TIMESTAMPLTZ: "timestamp",
    exp.DataType.Type.TIMESTAMPNTZ: "timestamp_ntz",
    exp.DataType.Type.TEXT: "string",
    exp.DataType.Type.VARCHAR: "string",
    exp.DataType.Type.BOOLEAN: "boolean",
    exp.DataType.Type.BINARY: "binary",
    **dict.fromkeys(_NUMBER_TYPES, "number"),
}


def is_column(expression: exp.Expr) -> bool:
    """Tell whether an expression is the name of a column."""
    return isinstance(expression, exp.Column | exp.Dot)


def names(expression: exp.Expr) -> tuple[str, ...]:
    """The parts of a column's name, from the top to the column."""
    below: list[str] = []
    while isinstance(expression, exp.Dot):
        below.append(expression.expression.name)
        expression = expression.this
    parts = expression.parts if isinstance(expression, exp.Column) else ()
    return (*(part.name for part in parts), *reversed(below))


def unwrapped(expression: exp.Expr) -> exp.Expr:
    """The expression without the parentheses around it."""
    while isinstance(expression, exp.Paren):
        expression = expression.this
    return expression


def read_literal(expression: exp.Expr) -> Literal:
    """The value that an expression writes.

    Raises:
        PredicateError: It is not one value.
    """
    expression = unwrapped(expression)
    match expression:
        case exp.Literal():
            kind = "string" if expression.is_string else "number"
            return Literal(kind, expression.this)
        case exp.Neg():
            inner = read_literal(expression.this)
            if inner.kind == "number":
                return Literal("number", _negated(inner.text))
        case exp.Boolean():
            return Literal("boolean", str(expression.this).lower())
        case exp.Null():
            return Literal("null")
        case exp.HexString():
            return Literal("binary", expression.this)
        case exp.Cast():
            return _cast(expression)
    raise PredicateError(reason=f"{shown(expression)} is not a value")


def _negated(text: str) -> str:
    return text.removeprefix("-") if text.startswith("-") else f"-{text}"


def _cast(expression: exp.Cast) -> Literal:
    """A literal with its type said: DATE '...', TIMESTAMP '...', CAST(5 AS INT)."""
    if is_column(unwrapped(expression.this)):
        reason = f"{shown(expression)} casts a column; cast the value instead"
        raise PredicateError(reason=reason)
    inner = read_literal(expression.this)
    kind = _CAST_KINDS.get(expression.to.this)
    if kind is None:
        raise PredicateError(reason=f"{shown(expression)} is not a value")
    if inner.kind in {"null", kind}:
        return inner
    if inner.kind != "string" and kind != "string":
        raise PredicateError(reason=f"{shown(expression)} is not a value")
    if kind == "binary":
        return inner
    return Literal(kind, inner.text)


def like_pattern(pattern: str, escape: str) -> str:
    """The pattern with a backslash as its escape.

    Raises:
        PredicateError: The escape is no character, or escapes nothing.
    """
    if len(escape) != 1:
        raise PredicateError(reason="ESCAPE needs one character")
    text = ""
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            escaped = next(characters, "")
            if not escaped:
                reason = f"the pattern {pattern!r} ends with its escape character"
                raise PredicateError(reason=reason)
            text += f"\\{escaped}"
        else:
            text += "\\\\" if character == "\\" else character
    return text
