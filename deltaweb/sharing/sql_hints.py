"""SQL hints as clients spell them, read loosely.

Understood is what `deltaweb.sharing.predicates` understands of one column beside
values, and more of what query engines send: `CAST(partitionValues.day AS DATE)`, the
suffixes of Spark's numbers, `isnotnull(a)`. Where the strict parser has one meaning,
this one keeps every meaning that some client may have in mind.
"""

from typing import TYPE_CHECKING

from sqlglot import exp

from deltaweb.delta.errors import PredicateError
from deltaweb.delta.predicate import IsNull, Like, Not
from deltaweb.delta.schema import StructType
from deltaweb.delta.value_text import INTEGER_BITS
from deltaweb.sharing.hint_columns import check_comparable, find_column, is_boolean
from deltaweb.sharing.hint_literals import (
    HintLiteral,
    compare_loosely,
    contained_loosely,
)
from deltaweb.sharing.loose_conditions import (
    Loose,
    all_of,
    any_of,
    denied,
    exactly,
    never_unknown,
)
from deltaweb.sharing.sql_casts import cast_name, is_already, is_number, keeps_values
from deltaweb.sharing.sql_literals import TypedColumn
from deltaweb.sharing.sql_quotes import other_texts
from deltaweb.sharing.sql_text import SQLText, shown, written
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
    from collections.abc import Callable, Mapping


class SQLHintReader:
    """Reads the SQL hints of one query.

    Attributes:
        schema: The table's schema.
        zone_is_unknown: Whether a time without a zone may be in any, see
            `deltaweb.sharing.hints`.
    """

    def __init__(self, schema: StructType, *, zone_is_unknown: bool = False) -> None:
        self.schema = schema
        self.zone_is_unknown = zone_is_unknown
        self.other_texts: Mapping[str, str] = {}
        self.readers: dict[type, Callable[..., Loose]] = {
            exp.And: lambda e: all_of(self.parts(e)),
            exp.Or: lambda e: any_of(self.parts(e)),
            exp.Not: lambda e: denied(self.condition(e.this)),
            exp.Column: self.boolean_column,
            exp.Dot: self.boolean_column,
            exp.Cast: self.boolean_column,
            exp.TryCast: self.boolean_column,
            exp.Is: self.is_test,
            exp.Anonymous: self.null_function,
            exp.In: self.in_list,
            exp.Between: self.between,
            exp.Like: self.like,
            exp.Escape: self.like,
            exp.StartsWith: self.starts_with,
            exp.NullSafeEQ: self.null_safe,
            exp.NullSafeNEQ: lambda e: denied(self.null_safe(e)),
            **dict.fromkeys(OPERATORS, self.comparison),
        }

    def read(self, sql: SQLText) -> list[tuple[str, Loose | PredicateError]]:
        """Read a hint: each part of a chain of AND with what it says, or why not."""
        self.other_texts = other_texts(sql, self.schema)
        tree = unwrapped(sql.tree)
        parts = _flattened(tree) if isinstance(tree, exp.And) else [tree]
        found: list[tuple[str, Loose | PredicateError]] = []
        for part in parts:
            text = sql.text if len(parts) == 1 else written(part)
            try:
                found.append((text, self.condition(part)))
            except PredicateError as error:
                found.append((text, error))
        return found

    # === Conditions ===

    def condition(self, expression: exp.Expr) -> Loose:
        """Read one condition of any kind."""
        expression = unwrapped(expression)
        read = self.readers.get(type(expression))
        if read is None:
            raise PredicateError(reason=f"{shown(expression)} is not a condition")
        return read(expression)

    def parts(self, expression: exp.Connector) -> list[Loose]:
        """The parts of a chain of AND or OR."""
        return [self.condition(part) for part in _flattened(expression)]

    def comparison(self, expression: exp.Binary) -> Loose:
        """Read `a < 5` and `5 > a`."""
        operator = OPERATORS[type(expression)]
        left, right = unwrapped(expression.left), unwrapped(expression.right)
        if not self.names_column(left):
            left, right, operator = right, left, SWAPPED[operator]
        if not self.names_column(left) or self.names_column(right):
            reason = f"{shown(expression)} does not compare a column with a value"
            raise PredicateError(reason=reason)
        return compare_loosely(
            self.comparable(left), operator, self.value(right, expression)
        )

    def null_safe(self, expression: exp.Binary) -> Loose:
        """Read `a <=> 5`, which is false for null."""
        left, right = unwrapped(expression.left), unwrapped(expression.right)
        if not self.names_column(left):
            left, right = right, left
        if isinstance(right, exp.Null):
            return exactly(IsNull(self.column(left).path))
        column = self.comparable(left)
        equal = compare_loosely(column, "=", self.value(right, expression))
        return never_unknown(equal, column.path)

    def is_test(self, expression: exp.Is) -> Loose:
        """Read `a IS NULL` and `a IS TRUE`."""
        column, wanted = self.column(unwrapped(expression.this)), expression.expression
        if isinstance(wanted, exp.Null):
            return exactly(IsNull(column.path))
        if isinstance(wanted, exp.Boolean) and is_boolean(column):
            literal = HintLiteral("boolean", str(wanted.this).lower())
            equal = compare_loosely(column, "=", literal)
            return never_unknown(equal, column.path)
        raise PredicateError(reason=f"{shown(expression)} does not test a column")

    def null_function(self, expression: exp.Anonymous) -> Loose:
        """Read `isnull(a)` and `isnotnull(a)`."""
        name = str(expression.this).lower()
        if name not in {"isnull", "isnotnull"} or len(expression.expressions) != 1:
            raise PredicateError(reason=f"{shown(expression)} is not a condition")
        test = exactly(IsNull(self.column(unwrapped(expression.expressions[0])).path))
        return test if name == "isnull" else denied(test)

    def in_list(self, expression: exp.In) -> Loose:
        """Read `a IN (1, 2)`."""
        values = expression.expressions
        if not values or expression.args.get("query"):
            raise PredicateError(reason=f"{shown(expression)} has no list of values")
        column = self.comparable(unwrapped(expression.this))
        literals = [self.value(value, expression, null=True) for value in values]
        return contained_loosely(column, literals)

    def between(self, expression: exp.Between) -> Loose:
        """Read `a BETWEEN 1 AND 2`."""
        if expression.args.get("symmetric"):
            raise PredicateError(reason="BETWEEN SYMMETRIC is not understood")
        column = self.comparable(unwrapped(expression.this))
        low = self.value(expression.args["low"], expression)
        high = self.value(expression.args["high"], expression)
        return all_of(
            [compare_loosely(column, ">=", low), compare_loosely(column, "<=", high)]
        )

    def like(self, expression: exp.Expr) -> Loose:
        """Read `a LIKE 'x%'`, with NOT and ESCAPE.

        A backslash escapes to some clients and is text to others, so that only what
        stands before it counts.
        """
        inner = expression.this if isinstance(expression, exp.Escape) else expression
        if not isinstance(inner, exp.Like):
            raise PredicateError(reason=f"{shown(expression)} selects no files")
        column = self.text_column(inner.this)
        pattern = self.value(inner.expression, expression)
        if pattern.kind != "string":
            raise PredicateError(reason=f"{shown(expression)} has no pattern of text")
        text, backslash, _ = (pattern.other_text or pattern.text).partition("\\")
        if isinstance(expression, exp.Escape):
            escape = self.value(expression.expression, expression).text
            if backslash:
                raise PredicateError(reason=f"{shown(expression)} escapes in two ways")
            like = exactly(Like(column.path, like_pattern(text, escape)))
        elif backslash:
            is_null = IsNull(column.path)
            like = Loose(Like(column.path, f"{text}%"), Not(is_null), is_null)
        else:
            like = exactly(Like(column.path, text))
        return denied(like) if inner.args.get("negate") else like

    def starts_with(self, expression: exp.StartsWith) -> Loose:
        """Read `startswith(a, 'x')`."""
        column = self.text_column(expression.this)
        prefix = self.value(expression.expression, expression)
        if prefix.kind != "string" or prefix.other_text:
            raise PredicateError(reason=f"{shown(expression)} has no prefix of text")
        return exactly(Like(column.path, f"{_escaped(prefix.text)}%"))

    def boolean_column(self, expression: exp.Expr) -> Loose:
        """Read a column that is a condition by itself."""
        column = self.column(expression)
        if not is_boolean(column):
            raise PredicateError(reason=f"{shown(expression)} is not a condition")
        return compare_loosely(column, "=", HintLiteral("boolean", "true"))

    # === Columns ===

    def names_column(self, expression: exp.Expr) -> bool:
        """Tell whether an expression is a column, or casts one."""
        while isinstance(expression, exp.Cast):
            expression = unwrapped(expression.this)
        return is_column(expression)

    def text_column(self, expression: exp.Expr) -> TypedColumn:
        """A column of text."""
        column = self.comparable(unwrapped(expression))
        if getattr(column.data_type, "name", "") != "string":
            raise PredicateError(reason=f"{shown(expression)} is no column of text")
        return column

    def comparable(self, expression: exp.Expr) -> TypedColumn:
        """A column whose values all clients compare alike."""
        column = self.column(expression)
        check_comparable(self.schema, column)
        return column

    def column(self, expression: exp.Expr) -> TypedColumn:
        """The column that an expression names, through casts that change no value."""
        expression = unwrapped(expression)
        if isinstance(expression, exp.Cast):
            column = self.column(expression.this)
            if expression.args.get("format") or not keeps_values(column, expression.to):
                reason = f"{shown(expression)} may change the values of its column"
                raise PredicateError(reason=reason)
            return column
        if not is_column(expression):
            raise PredicateError(reason=f"{shown(expression)} is not a column")
        return find_column(self.schema, names(expression))

    # === Literals ===

    def value(
        self, expression: exp.Expr, around: exp.Expr, *, null: bool = False
    ) -> HintLiteral:
        """The literal that an expression writes."""
        expression = unwrapped(expression)
        literal = self.typed(expression)
        if literal.kind == "null" and not null:
            reason = f"{shown(around)} compares with NULL, which is never true"
            raise PredicateError(reason=reason)
        return literal

    def typed(self, expression: exp.Expr) -> HintLiteral:
        """A literal with its type, said or not."""
        if isinstance(expression, exp.Cast):
            return self.cast(expression, self.typed(unwrapped(expression.this)))
        if isinstance(expression, exp.Neg):
            inner = unwrapped(expression.this)
            if isinstance(inner, exp.Cast) and is_number(inner.to):
                # The suffix of -128Y is inside; its type has no 128 without the sign.
                number = _negative(self.typed(unwrapped(inner.this)))
                return self.cast(inner, number)
            number = self.typed(inner)
            if number.kind in {"number", "float", "double"}:
                return _negative(number)
        literal = read_literal(expression)
        if literal.kind == "number" and "e" in literal.text.lower():
            return HintLiteral("double", literal.text)
        return HintLiteral(
            literal.kind,
            literal.text,
            other_text=self.other_texts.get(literal.text, ""),
            zone_is_unknown=self.zone_is_unknown,
        )

    def cast(self, expression: exp.Cast, inner: HintLiteral) -> HintLiteral:
        """A literal whose type is said, when the cast changes nothing about it."""
        name = cast_name(expression.to)
        if inner.kind == "null":
            return inner
        if expression.args.get("format") is None and (
            name == inner.kind or is_already(inner, name, expression.to)
        ):
            if inner.kind == "float" and name == "double":
                return inner
            kind = "number" if name in INTEGER_BITS or name == "decimal" else name
            return HintLiteral(
                kind,
                inner.text,
                other_text=inner.other_text if kind == "string" else "",
                zone_is_unknown=self.zone_is_unknown,
            )
        raise PredicateError(reason=f"{shown(expression)} may change its value")


def _negative(literal: HintLiteral) -> HintLiteral:
    """A number with the other sign, which Spark's suffix BD writes as a text."""
    text = literal.text
    text = text[1:] if text.startswith("-") else f"-{text}"
    return HintLiteral(literal.kind, text)


def _flattened(expression: exp.Connector) -> list[exp.Expr]:
    """The parts of a chain, through the parentheses that query engines write."""
    kind = type(expression)
    parts: list[exp.Expr] = []
    waiting: list[exp.Expr] = [expression]
    while waiting:
        part = unwrapped(waiting.pop())
        if isinstance(part, kind):
            waiting += [part.right, part.left]
        else:
            parts.append(part)
    return parts


def _escaped(text: str) -> str:
    return "".join(f"\\{c}" if c in "%_\\" else c for c in text)
