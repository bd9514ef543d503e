"""The SQL text of a condition, as a tree of `deltaweb.delta.predicate`.

Understood are comparisons of a column with a literal or another column, `<=>`, IN,
BETWEEN, LIKE, ILIKE, IS NULL, IS TRUE, AND, OR, NOT and parentheses. Names of columns
may be quoted with backticks, and dots lead into structs. Texts are in single quotes.
A time without a zone is UTC. What is not understood is an error, never ignored.

The text is bounded before it is parsed: in length, in tokens and in nesting.
"""

from typing import TYPE_CHECKING

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.databricks import Databricks
from sqlglot.errors import ParseError, SqlglotError

from deltaweb.delta.column_path import column_field, resolve_column
from deltaweb.delta.errors import ColumnNotFoundError, PredicateError
from deltaweb.delta.predicate import (
    And,
    ColumnComparison,
    Constant,
    IsNull,
    Like,
    Not,
    Or,
    Predicate,
)
from deltaweb.delta.schema import (
    ArrayType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructType,
)
from deltaweb.sharing.sql_literals import (
    Literal,
    TypedColumn,
    compare,
    compare_literals,
    contained,
    equal_null_safe,
)

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_LENGTH = 100_000
MAX_TOKENS = 20_000
MAX_NESTING_DEPTH = 20

_OPERATORS = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_SWAPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}
_PREFIXES = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE}
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


class _Conditions(Databricks):
    """Spark's SQL, with the standard's doubled quote inside a text."""

    class Tokenizer(Databricks.Tokenizer):
        STRING_ESCAPES = ["'", "\\"]


def parse_predicate(sql: str, schema: StructType) -> Predicate:
    """Parse the SQL text of a condition over the columns of `schema`.

    Args:
        sql: What would stand after WHERE.
        schema: The table's schema; its types decide what a literal is.

    Returns:
        The condition as a tree.

    Raises:
        PredicateError: The text is not understood, is too long or nested too deeply,
            names no column of the schema, or compares what cannot be compared.
    """
    return _Converter(schema).condition(_parse(sql))


_TOO_DEEP = f"it nests deeper than {MAX_NESTING_DEPTH} levels"


def _parse(sql: str) -> exp.Expr:
    if len(sql) > MAX_LENGTH:
        raise PredicateError(reason=f"it is longer than {MAX_LENGTH} characters")
    if not sql.strip():
        raise PredicateError(reason="it is empty")
    if any("\ud800" <= character <= "\udfff" for character in sql):
        raise PredicateError(reason="it holds characters that are no text")
    dialect = _Conditions()
    try:
        tokens = dialect.tokenize(sql)
        _check_bounds(tokens)
        trees = dialect.parser().parse(tokens, sql)
    except RecursionError:
        raise PredicateError(reason=_TOO_DEEP) from None
    except ParseError as error:
        raise PredicateError(reason=_parse_reason(error)) from None
    except (SqlglotError, ValueError, AttributeError, TypeError, LookupError):
        raise PredicateError(reason="it is not a condition in SQL") from None
    if len(trees) != 1 or trees[0] is None:
        raise PredicateError(reason="it is not one condition")
    return trees[0]


def _check_bounds(tokens: list[Token]) -> None:
    """Refuse what would take a recursive parser too deep, before it starts."""
    if len(tokens) > MAX_TOKENS:
        raise PredicateError(reason=f"it has more than {MAX_TOKENS} parts")
    depth = prefixes = 0
    for token in tokens:
        if token.token_type in _OPENING:
            depth += 1
        elif token.token_type in _CLOSING:
            depth -= 1
        prefixes = prefixes + 1 if token.token_type in _PREFIXES else 0
        if (
            max(depth, prefixes) > MAX_NESTING_DEPTH
            or depth + prefixes > 2 * MAX_NESTING_DEPTH
        ):
            raise PredicateError(reason=_TOO_DEEP)


def _parse_reason(error: ParseError) -> str:
    first = error.errors[0] if error.errors else {}
    near = str(first.get("highlight") or "").strip()
    column = first.get("col")
    if near and column:
        return f"it is not SQL at {near[:40]!r} (character {column})"
    return "it is not a condition in SQL"


class _Converter:
    """Turns the parsed text into a condition over one schema."""

    def __init__(self, schema: StructType) -> None:
        self.schema = schema
        self.converters: dict[type, Callable[..., Predicate]] = {
            exp.Paren: lambda e: self.condition(e.this),
            exp.And: lambda e: And(self.parts(e)),
            exp.Or: lambda e: Or(self.parts(e)),
            exp.Not: lambda e: Not(self.condition(e.this)),
            exp.Boolean: lambda e: Constant(bool(e.this)),
            exp.Null: lambda _: Constant(None),
            exp.Column: self.boolean_column,
            exp.Dot: self.boolean_column,
            exp.Is: self.is_test,
            exp.In: self.in_list,
            exp.Between: self.between,
            exp.Like: self.like,
            exp.ILike: self.like,
            exp.Escape: self.like,
            exp.NullSafeEQ: self.null_safe,
            exp.NullSafeNEQ: lambda e: Not(self.null_safe(e)),
            **dict.fromkeys(_OPERATORS, self.comparison),
        }

    def condition(self, expression: exp.Expr) -> Predicate:
        """Convert one condition of any kind."""
        convert = self.converters.get(type(expression))
        if convert is None:
            raise PredicateError(reason=f"{_shown(expression)} is not a condition")
        return convert(expression)

    def parts(self, expression: exp.Connector) -> tuple[Predicate, ...]:
        """The parts of a chain of AND or OR, which may be long."""
        return tuple(self.condition(part) for part in expression.flatten())

    # === Conditions ===

    def comparison(self, expression: exp.Binary) -> Predicate:
        """Convert `a < 5`, `5 > a` and `a < b`."""
        operator = _OPERATORS[type(expression)]
        left, right = _unwrapped(expression.left), _unwrapped(expression.right)
        if _is_column(left) and _is_column(right):
            return self.two_columns(expression, operator)
        if _is_column(left):
            return compare(self.comparable(left), operator, _literal(right))
        if _is_column(right):
            return compare(self.comparable(right), _SWAPPED[operator], _literal(left))
        if isinstance(left, exp.Literal) and isinstance(right, exp.Literal):
            return compare_literals(_literal(left), operator, _literal(right))
        reason = (
            f"{_shown(expression)} does not compare a column with a value; functions, "
            "arithmetic and casts of columns are not understood, and a column's name "
            "is quoted with backticks"
        )
        raise PredicateError(reason=reason)

    def two_columns(self, expression: exp.Binary, operator: str) -> Predicate:
        """Convert `a < b`, which needs columns of one type."""
        left = self.comparable(_unwrapped(expression.left))
        right = self.comparable(_unwrapped(expression.right))
        if left.data_type != right.data_type:
            reason = f"the columns of {_shown(expression)} are of different types"
            raise PredicateError(reason=reason)
        return ColumnComparison(left.path, operator, right.path)

    def null_safe(self, expression: exp.Binary) -> Predicate:
        """Convert `a <=> 5`."""
        left, right = _unwrapped(expression.left), _unwrapped(expression.right)
        if not _is_column(left):
            left, right = right, left
        if not _is_column(left) or _is_column(right):
            reason = f"{_shown(expression)} does not compare a column with a value"
            raise PredicateError(reason=reason)
        literal = _literal(right)
        if literal.kind == "null":
            return IsNull(self.column(left).path)
        return equal_null_safe(self.comparable(left), literal)

    def is_test(self, expression: exp.Is) -> Predicate:
        """Convert `a IS NULL` and `a IS TRUE`."""
        column, wanted = _unwrapped(expression.this), expression.expression
        if isinstance(wanted, exp.Null) and _is_column(column):
            return IsNull(self.column(column).path)
        if isinstance(wanted, exp.Boolean) and _is_column(column):
            literal = Literal("boolean", str(wanted.this).lower())
            return equal_null_safe(self.comparable(column), literal)
        raise PredicateError(reason=f"{_shown(expression)} does not test a column")

    def in_list(self, expression: exp.In) -> Predicate:
        """Convert `a IN (1, 2)`."""
        values = expression.expressions
        if not values or expression.args.get("query"):
            raise PredicateError(reason=f"{_shown(expression)} has no list of values")
        column = self.comparable(_unwrapped(expression.this))
        return contained(column, [_literal(_unwrapped(value)) for value in values])

    def between(self, expression: exp.Between) -> Predicate:
        """Convert `a BETWEEN 1 AND 2`."""
        if expression.args.get("symmetric"):
            raise PredicateError(reason="BETWEEN SYMMETRIC is not understood")
        column = self.comparable(_unwrapped(expression.this))
        low = _literal(_unwrapped(expression.args["low"]))
        high = _literal(_unwrapped(expression.args["high"]))
        return And((compare(column, ">=", low), compare(column, "<=", high)))

    def like(self, expression: exp.Expr) -> Predicate:
        """Convert `a LIKE 'x%'`, with ILIKE, NOT and ESCAPE."""
        escape = "\\"
        inner = expression
        if isinstance(expression, exp.Escape):
            escape, inner = _literal(expression.expression).text, expression.this
        if not isinstance(inner, exp.Like | exp.ILike):
            raise PredicateError(reason=f"{_shown(expression)} is not a condition")
        column = self.comparable(_unwrapped(inner.this))
        pattern = _literal(_unwrapped(inner.expression))
        if column.data_type != PrimitiveType("string", _spelling(column)):
            reason = f"LIKE needs a column of text, and {_name(column)} is none"
            raise PredicateError(reason=reason)
        if pattern.kind == "null":
            return Constant(None)
        if pattern.kind != "string":
            raise PredicateError(reason=f"{pattern.text} is no pattern of text")
        text = _like_pattern(pattern.text, escape)
        like = Like(column.path, text, ignore_case=isinstance(inner, exp.ILike))
        return Not(like) if inner.args.get("negate") else like

    def boolean_column(self, expression: exp.Expr) -> Predicate:
        """Convert a column that is a condition by itself."""
        column = self.column(expression)
        if column.data_type != PrimitiveType("boolean"):
            reason = (
                f"column {_name(column)} is not a condition, since it is no boolean"
            )
            raise PredicateError(reason=reason)
        return compare(column, "=", Literal("boolean", "true"))

    # === Columns ===

    def comparable(self, expression: exp.Expr) -> TypedColumn:
        """The column, which has to be of a type with an order."""
        column = self.column(expression)
        if isinstance(column.data_type, StructType | ArrayType | MapType):
            reason = (
                f"column {_name(column)} is nested; only IS NULL can be asked of it"
            )
            raise PredicateError(reason=reason)
        if not isinstance(column.data_type, DecimalType) and column.data_type.name in {
            "void",
            "variant",
        }:
            reason = f"column {_name(column)} has no values to compare"
            raise PredicateError(reason=reason)
        return column

    def column(self, expression: exp.Expr) -> TypedColumn:
        """The column that a name means."""
        if not _is_column(expression):
            raise PredicateError(reason=f"{_shown(expression)} is not a column")
        try:
            path = resolve_column(self.schema, _names(expression))
        except ColumnNotFoundError as error:
            reason = f"{error.message.rstrip('.')}; {_listed(self.schema)}"
            raise PredicateError(reason=reason[:1].lower() + reason[1:]) from None
        return TypedColumn(path, column_field(self.schema, path).data_type)


def _is_column(expression: exp.Expr) -> bool:
    return isinstance(expression, exp.Column | exp.Dot)


def _names(expression: exp.Expr) -> tuple[str, ...]:
    if isinstance(expression, exp.Dot):
        return (*_names(expression.this), expression.expression.name)
    parts = expression.parts if isinstance(expression, exp.Column) else ()
    return tuple(part.name for part in parts)


def _name(column: TypedColumn) -> str:
    return repr(".".join(column.path))


def _spelling(column: TypedColumn) -> str:
    return getattr(column.data_type, "spelling", "")


def _listed(schema: StructType) -> str:
    names = ", ".join(schema.names[:20])
    return f"its columns are {names}{' and others' if len(schema.names) > 20 else ''}"  # noqa: PLR2004 # a line


def _unwrapped(expression: exp.Expr) -> exp.Expr:
    while isinstance(expression, exp.Paren):
        expression = expression.this
    return expression


# === Literals ===


def _literal(expression: exp.Expr) -> Literal:
    expression = _unwrapped(expression)
    match expression:
        case exp.Literal():
            kind = "string" if expression.is_string else "number"
            return Literal(kind, expression.this)
        case exp.Neg():
            inner = _literal(expression.this)
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
    raise PredicateError(reason=f"{_shown(expression)} is not a value")


def _negated(text: str) -> str:
    return text.removeprefix("-") if text.startswith("-") else f"-{text}"


def _cast(expression: exp.Cast) -> Literal:
    """A literal with its type said: DATE '...', TIMESTAMP '...', CAST(5 AS INT)."""
    if _is_column(_unwrapped(expression.this)):
        reason = f"{_shown(expression)} casts a column; cast the value instead"
        raise PredicateError(reason=reason)
    inner = _literal(expression.this)
    kind = _CAST_KINDS.get(expression.to.this)
    if kind is None:
        raise PredicateError(reason=f"{_shown(expression)} is not a value")
    if inner.kind in {"null", kind}:
        return inner
    if inner.kind != "string" and kind != "string":
        raise PredicateError(reason=f"{_shown(expression)} is not a value")
    if kind == "binary":
        return inner
    return Literal(kind, inner.text)


def _like_pattern(pattern: str, escape: str) -> str:
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


def _shown(expression: exp.Expr) -> str:
    """The part of the condition as SQL, cut to a line."""
    try:
        text = expression.sql(dialect=Databricks)
    except (SqlglotError, RecursionError, ValueError):  # pragma: no cover # a safeguard
        text = type(expression).__name__
    return repr(text if len(text) <= 80 else f"{text[:80]}...")  # noqa: PLR2004 # a line
