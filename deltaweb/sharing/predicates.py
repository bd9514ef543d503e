"""The SQL text of a condition, as a tree of `deltaweb.delta.predicate`.

Understood are comparisons of a column with a literal or another column, `<=>`, IN,
BETWEEN, LIKE, ILIKE, IS NULL, IS TRUE, AND, OR, NOT and parentheses. Names of columns
may be quoted with backticks, and dots lead into structs. Texts are in single quotes.
A time without a zone is UTC. What is not understood is an error, never ignored.

The text is bounded before it is parsed: in length, in tokens and in nesting.
"""

from typing import TYPE_CHECKING

from sqlglot import exp

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
from deltaweb.sharing.sql_text import (
    MAX_LENGTH,
    MAX_NESTING_DEPTH,
    MAX_TOKENS,
    parse_sql,
    shown,
)
from deltaweb.sharing.sql_values import (
    OPERATORS,
    SWAPPED,
    is_column,
    like_pattern,
    names,
    read_literal,
    unwrapped,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MAX_LENGTH", "MAX_NESTING_DEPTH", "MAX_TOKENS", "parse_predicate"]


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
    return _Converter(schema).condition(parse_sql(sql).tree)


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
            **dict.fromkeys(OPERATORS, self.comparison),
        }

    def condition(self, expression: exp.Expr) -> Predicate:
        """Convert one condition of any kind."""
        convert = self.converters.get(type(expression))
        if convert is None:
            raise PredicateError(reason=f"{shown(expression)} is not a condition")
        return convert(expression)

    def parts(self, expression: exp.Connector) -> tuple[Predicate, ...]:
        """The parts of a chain of AND or OR, which may be long."""
        return tuple(self.condition(part) for part in expression.flatten())

    # === Conditions ===

    def comparison(self, expression: exp.Binary) -> Predicate:
        """Convert `a < 5`, `5 > a` and `a < b`."""
        operator = OPERATORS[type(expression)]
        left, right = unwrapped(expression.left), unwrapped(expression.right)
        if is_column(left) and is_column(right):
            return self.two_columns(expression, operator)
        if is_column(left):
            return compare(self.comparable(left), operator, read_literal(right))
        if is_column(right):
            return compare(
                self.comparable(right), SWAPPED[operator], read_literal(left)
            )
        if isinstance(left, exp.Literal) and isinstance(right, exp.Literal):
            return compare_literals(read_literal(left), operator, read_literal(right))
        reason = (
            f"{shown(expression)} does not compare a column with a value; functions, "
            "arithmetic and casts of columns are not understood, and a column's name "
            "is quoted with backticks"
        )
        raise PredicateError(reason=reason)

    def two_columns(self, expression: exp.Binary, operator: str) -> Predicate:
        """Convert `a < b`, which needs columns of one type."""
        left = self.comparable(unwrapped(expression.left))
        right = self.comparable(unwrapped(expression.right))
        if left.data_type != right.data_type:
            reason = f"the columns of {shown(expression)} are of different types"
            raise PredicateError(reason=reason)
        return ColumnComparison(left.path, operator, right.path)

    def null_safe(self, expression: exp.Binary) -> Predicate:
        """Convert `a <=> 5`."""
        left, right = unwrapped(expression.left), unwrapped(expression.right)
        if not is_column(left):
            left, right = right, left
        if not is_column(left) or is_column(right):
            reason = f"{shown(expression)} does not compare a column with a value"
            raise PredicateError(reason=reason)
        literal = read_literal(right)
        if literal.kind == "null":
            return IsNull(self.column(left).path)
        return equal_null_safe(self.comparable(left), literal)

    def is_test(self, expression: exp.Is) -> Predicate:
        """Convert `a IS NULL` and `a IS TRUE`."""
        column, wanted = unwrapped(expression.this), expression.expression
        if isinstance(wanted, exp.Null) and is_column(column):
            return IsNull(self.column(column).path)
        if isinstance(wanted, exp.Boolean) and is_column(column):
            literal = Literal("boolean", str(wanted.this).lower())
            return equal_null_safe(self.comparable(column), literal)
        raise PredicateError(reason=f"{shown(expression)} does not test a column")

    def in_list(self, expression: exp.In) -> Predicate:
        """Convert `a IN (1, 2)`."""
        values = expression.expressions
        if not values or expression.args.get("query"):
            raise PredicateError(reason=f"{shown(expression)} has no list of values")
        column = self.comparable(unwrapped(expression.this))
        return contained(column, [read_literal(unwrapped(value)) for value in values])

    def between(self, expression: exp.Between) -> Predicate:
        """Convert `a BETWEEN 1 AND 2`."""
        if expression.args.get("symmetric"):
            raise PredicateError(reason="BETWEEN SYMMETRIC is not understood")
        column = self.comparable(unwrapped(expression.this))
        low = read_literal(unwrapped(expression.args["low"]))
        high = read_literal(unwrapped(expression.args["high"]))
        return And((compare(column, ">=", low), compare(column, "<=", high)))

    def like(self, expression: exp.Expr) -> Predicate:
        """Convert `a LIKE 'x%'`, with ILIKE, NOT and ESCAPE."""
        escape = "\\"
        inner = expression
        if isinstance(expression, exp.Escape):
            escape, inner = read_literal(expression.expression).text, expression.this
        if not isinstance(inner, exp.Like | exp.ILike):
            raise PredicateError(reason=f"{shown(expression)} is not a condition")
        column = self.comparable(unwrapped(inner.this))
        pattern = read_literal(unwrapped(inner.expression))
        if column.data_type != PrimitiveType("string", _spelling(column)):
            reason = f"LIKE needs a column of text, and {_name(column)} is none"
            raise PredicateError(reason=reason)
        if pattern.kind == "null":
            return Constant(None)
        if pattern.kind != "string":
            raise PredicateError(reason=f"{pattern.text} is no pattern of text")
        text = like_pattern(pattern.text, escape)
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
        if not is_column(expression):
            raise PredicateError(reason=f"{shown(expression)} is not a column")
        try:
            path = resolve_column(self.schema, names(expression))
        except ColumnNotFoundError as error:
            reason = f"{error.message.rstrip('.')}; {_listed(self.schema)}"
            raise PredicateError(reason=reason[:1].lower() + reason[1:]) from None
        return TypedColumn(path, column_field(self.schema, path).data_type)


def _name(column: TypedColumn) -> str:
    return repr(".".join(column.path))


def _spelling(column: TypedColumn) -> str:
    return getattr(column.data_type, "spelling", "")


def _listed(schema: StructType) -> str:
    names = ", ".join(schema.names[:20])
    return f"its columns are {names}{' and others' if len(schema.names) > 20 else ''}"  # noqa: PLR2004 # a line
