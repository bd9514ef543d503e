"""SQL as a tree of conditions."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from sqlglot import TokenType, exp

from deltaweb.conditions import tree
from deltaweb.conditions.casts import literal_kind
from deltaweb.conditions.sql_text import SQLText, shown, written
from deltaweb.delta.errors import ColumnNotFoundError, PredicateError
from deltaweb.delta.protocol.column_path import resolve_column
from deltaweb.delta.protocol.schema import (
    DataType,
    DecimalType,
    PrimitiveType,
    StructType,
)
from deltaweb.delta.scan.operators import SIGNS
from deltaweb.delta.values.time_zones.rules import ZoneRules

COMPARISONS: Final[Mapping[type[exp.Expr], str]] = {
    kind: SIGNS[name.lower()]
    for name, kind in vars(exp).items()
    if name.lower() in SIGNS
}
"""The sign of each comparison."""
_OPERATORS: Final = {**COMPARISONS, exp.NullSafeNEQ: "<=>", exp.Is: "IS"}
_CONSTANTS: dict[type[exp.Expr], str] = {
    exp.Boolean: "boolean",
    exp.Null: "null",
    exp.HexString: "binary",
}
_Type = exp.DataType.Type
_TYPES = {
    _Type.TINYINT: "byte",
    _Type.SMALLINT: "short",
    _Type.INT: "integer",
    _Type.BIGINT: "long",
    _Type.FLOAT: "float",
    _Type.DOUBLE: "double",
    _Type.TEXT: "string",
    _Type.VARCHAR: "string",
    _Type.BOOLEAN: "boolean",
    _Type.BINARY: "binary",
    _Type.DATE: "date",
    _Type.TIMESTAMP: "timestamp",
    _Type.TIMESTAMPTZ: "timestamp",
    _Type.TIMESTAMPLTZ: "timestamp",
    _Type.TIMESTAMPNTZ: "timestamp_ntz",
}


@dataclass(frozen=True)
class _Source:
    """A part of a condition, written out only where an error shows it."""

    expression: exp.Expr

    def __str__(self) -> str:
        return shown(self.expression)


class SQLReader:
    """Reads the tree of one text.

    Args:
        other_texts: What texts are to clients that take a backslash as it is.
        zone_is_unknown: Whether a time without a zone may be in any.
        zone: The one that it is in; UTC for None.
    """

    def __init__(
        self,
        other_texts: Mapping[str, str] = MappingProxyType({}),
        *,
        zone_is_unknown: bool = False,
        zone: ZoneRules | None = None,
    ) -> None:
        self.other_texts = other_texts
        self.zone_is_unknown = zone_is_unknown
        self.zone = None if zone is None or zone.is_utc else zone
        self.readers: dict[type, Callable[..., tree.Node]] = {
            **dict.fromkeys(_OPERATORS, self.comparison),
            exp.And: lambda e, s: tree.And(self.chain(e), source=s),
            exp.Or: lambda e, s: tree.Or(self.chain(e), source=s),
            exp.Not: lambda e, s: tree.Not(self.condition(e.this), source=s),
            exp.NullSafeNEQ: lambda e, s: tree.Not(self.comparison(e, s), source=s),
            exp.Between: self.between,
            exp.In: self.in_list,
            exp.Like: self.like,
            exp.ILike: self.like,
            exp.Escape: self.like,
            exp.StartsWith: lambda e, s: self.call(
                s, "startswith", e.this, e.expression
            ),
            exp.Anonymous: lambda e, s: self.call(s, e.name.lower(), *e.expressions),
        }

    def condition(self, expression: exp.Expr) -> tree.Node:
        expression = unwrapped(expression)
        read = self.readers.get(type(expression))
        if read is None:
            return self.operand(expression)
        return read(expression, _Source(expression))

    def chain(self, expression: exp.Connector) -> tuple[tree.Node, ...]:
        return tuple(map(self.condition, connected(expression)))

    def comparison(self, expression: exp.Binary, source: _Source) -> tree.Compare:
        """Read `a < 5`, `5 > a`, `a <=> 5` and `a IS NULL`."""
        left, right = self.operands(expression.left, expression.right)
        operator = _OPERATORS[type(expression)]
        return tree.compared(operator, left, right, source=source)

    def between(self, expression: exp.Between, source: _Source) -> tree.And:
        """Read `a BETWEEN 1 AND 2`, which is two comparisons."""
        args = expression.args
        if args.get("symmetric"):
            raise PredicateError(reason="BETWEEN SYMMETRIC is not understood")
        column, low, high = self.operands(expression.this, args["low"], args["high"])
        parts = (
            tree.compared(">=", column, low, source=source),
            tree.compared("<=", column, high, source=source),
        )
        return tree.And(parts, source=source)

    def in_list(self, expression: exp.In, source: _Source) -> tree.OneOf:
        """Read `a IN (1, 2)`."""
        values = [] if expression.args.get("query") else expression.expressions
        operand = self.operand(expression.this)
        return tree.OneOf(operand, self.operands(*values), source=source)

    def like(self, expression: exp.Expr, source: _Source) -> tree.Node:
        """Read `a LIKE 'x%'`, with ILIKE, NOT and ESCAPE."""
        escape, inner = None, expression
        if isinstance(expression, exp.Escape):
            escape, inner = self.operand(expression.expression), expression.this
        if not isinstance(inner, exp.Like | exp.ILike):
            return tree.Unread(source=source)
        column, pattern = self.operands(inner.this, inner.expression)
        ignore_case = isinstance(inner, exp.ILike)
        like = tree.Like(column, pattern, escape, ignore_case, source=source)
        return tree.Not(like, source=source) if inner.args.get("negate") else like

    def call(self, source: _Source, name: str, *arguments: exp.Expr) -> tree.Call:
        """Read `isnull(a)`."""
        return tree.Call(name, self.operands(*arguments), source=source)

    # === Operands ===

    def operands(self, *expressions: exp.Expr) -> tuple[tree.Operand, ...]:
        """Several columns and literals."""
        return tuple(map(self.operand, expressions))

    def operand(self, expression: exp.Expr) -> tree.Operand:
        """A column or a literal, with its casts; anything else is not read."""
        inner = expression = unwrapped(expression)
        casts: list[DataType | None] = []
        while isinstance(inner, exp.Cast):
            casts.append(cast_type(inner))
            inner = unwrapped(inner.this)
        bare = self.bare(inner, _Source(expression))
        if not casts or isinstance(bare, tree.Unread):
            return bare
        return replace(bare, casts=(*bare.casts, *reversed(casts)))

    def bare(self, expression: exp.Expr, source: _Source) -> tree.Operand:
        """An operand outside of any cast."""
        match expression:
            case exp.Column() | exp.Dot():
                return tree.Column(column_names(expression), source=source)
            case exp.Neg():
                return _negative(self.operand(expression.this), source)
            case exp.Literal(this=text):
                return tree.Literal(
                    "string" if expression.is_string else "number",
                    text,
                    other_text=self.other_texts.get(text, ""),
                    zone_is_unknown=self.zone_is_unknown,
                    zone=self.zone,
                    source=source,
                )
        kind = _CONSTANTS.get(type(expression))
        if not kind:
            return tree.Unread(source=source)
        return tree.Literal(kind, str(expression.this).lower(), source=source)


def conjuncts(sql: SQLText) -> list[tuple[str, exp.Expr]]:
    """The parts of a chain of AND, each with its text."""
    expression = unwrapped(sql.tree)
    if not isinstance(expression, exp.And):
        return [(sql.text, expression)]
    return [(written(part), part) for part in connected(expression)]


def other_texts(sql: SQLText, schema: StructType) -> dict[str, str]:
    r"""What texts are to clients that take a backslash as it is.

    Only a `\'` is a quote to every client that writes it.
    """
    others: dict[str, str] = {}
    for token in sql.tokens:
        if token.token_type != TokenType.STRING:
            continue
        inside = sql.text[token.start + 1 : token.end]
        if sql.text[token.start : token.start + 1] == '"':
            _check_no_column(schema, token.text)
        if "\\" in inside.replace("\\'", ""):
            others[token.text] = inside.replace("\\'", "'").replace("''", "'")
    return {text: other for text, other in others.items() if text != other}


def _check_no_column(schema: StructType, text: str) -> None:
    try:
        resolve_column(schema, text)
    except ColumnNotFoundError:
        return
    reason = f'"{text[:40]}" in double quotes may be a text or a column'
    raise PredicateError(reason=reason)


def unwrapped(expression: exp.Expr) -> exp.Expr:
    """The expression without the parentheses around it."""
    while isinstance(expression, exp.Paren):
        expression = expression.this
    return expression


def connected(expression: exp.Connector) -> Iterator[exp.Expr]:
    """The parts of a chain, through the parentheses that query engines write."""
    kind = type(expression)
    waiting: list[exp.Expr] = [expression]
    while waiting:
        part = unwrapped(waiting.pop())
        if isinstance(part, kind):
            waiting += [part.right, part.left]
        else:
            yield part


def column_names(expression: exp.Expr) -> tuple[str, ...]:
    """The parts of a column's name, from the top to the column."""
    below: list[str] = []
    while isinstance(expression, exp.Dot):
        below.append(expression.expression.name)
        expression = expression.this
    parts = expression.parts if isinstance(expression, exp.Column) else ()
    return (*(part.name for part in parts), *reversed(below))


def cast_type(cast: exp.Cast) -> DataType | None:
    """The type that a cast names, as the specification calls it; None for another."""
    if cast.args.get("format"):
        return None
    if cast.to.this != _Type.DECIMAL:
        name = _TYPES.get(cast.to.this)
        return PrimitiveType(name) if name else None
    try:
        numbers = [int(part.name) for part in cast.to.expressions]
    except ValueError:
        return None
    precision, scale = (*numbers, *(10, 0)[len(numbers) :])[:2]
    return DecimalType(precision, scale)


def _negative(operand: tree.Operand, source: _Source) -> tree.Operand:
    """A number with the other sign.

    The suffix of -128Y is a cast inside of the sign, whose type has no 128; Spark's
    suffix BD writes the number as a text.
    """
    if isinstance(operand, tree.Literal):
        is_cast = [literal_kind(data_type) == "number" for data_type in operand.casts]
        kinds = {"number", "string"} if is_cast == [True] else {"number"}
        if operand.kind in kinds and is_cast in ([], [True]):
            text = operand.text
            text = text[1:] if text.startswith("-") else f"-{text}"
            return replace(operand, text=text, other_text="", source=source)
    return tree.Unread(source=source)
