"""SQL as nodes that are bound to a schema."""

import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from deltaweb.conditions.casts import literal_kind
from deltaweb.conditions.sql import (
    COMPARISONS,
    cast_type,
    column_names,
    connected,
    unwrapped,
)
from deltaweb.conditions.sql_text import NotSQLError, SQLText, parse_sql, shown
from deltaweb.delta.errors import ColumnNotFoundError, PredicateError
from deltaweb.delta.protocol.column_path import ColumnPath, column_field, resolve_column
from deltaweb.delta.protocol.schema import StructType, arrow_type
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.expressions.arithmetic import arithmetic, negative
from deltaweb.expressions.casts import cast, in_zone
from deltaweb.expressions.char_columns import char_length, padded, with_padded_literals
from deltaweb.expressions.choice import case, coalesced, null, null_if_equal
from deltaweb.expressions.common_types import MAX_DIGITS
from deltaweb.expressions.comparison import (
    all_of,
    any_of,
    compared,
    like,
    negated,
    one_of,
)
from deltaweb.expressions.errors import ExpressionError, ExpressionMistakenError
from deltaweb.expressions.functions import call, concatenated
from deltaweb.expressions.growth import refuse_growth
from deltaweb.expressions.mistakes import refuse_mistakes
from deltaweb.expressions.node import (
    NULL,
    BadLiteralError,
    BoundExpression,
    NotTranslatedError,
    literal,
)
from deltaweb.expressions.row_only import refuse_outside

_ARITHMETIC: Final = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.IntDiv: "DIV",
}
_FUNCTIONS: Final[dict[type[exp.Expr], str]] = {
    exp.Upper: "upper",
    exp.Lower: "lower",
    exp.Length: "length",
    exp.Abs: "abs",
    exp.Ceil: "ceil",
    exp.Negative: "negative",
    exp.Floor: "floor",
    exp.StartsWith: "startswith",
    exp.EndsWith: "endswith",
    exp.Contains: "contains",
    exp.Substring: "substring",
    exp.Replace: "replace",
    exp.Year: "year",
    exp.Quarter: "quarter",
    exp.Month: "month",
    exp.Day: "day",
    exp.DayOfMonth: "dayofmonth",
    exp.DayOfWeek: "dayofweek",
    exp.DayOfYear: "dayofyear",
    exp.Hour: "hour",
    exp.Minute: "minute",
    exp.Second: "second",
    exp.Nvl2: "nvl2",
    exp.Date: "date",
    exp.TsOrDsToDate: "to_date",
}
_ARGUMENTS: Final[dict[type[exp.Expr], tuple[str, ...]]] = {
    exp.Substring: ("this", "start", "length"),
    exp.Replace: ("this", "expression", "replacement"),
    exp.Nvl2: ("this", "true", "false"),
}
_NUMBER: Final = re.compile(r"[0-9]+\.?[0-9]*|\.[0-9]+")
_INT_MAX: Final = 2**31 - 1
_LONG_MAX: Final = 2**63 - 1


def parse_expression(sql: str) -> SQLText:
    """Return an expression that reads only its row, parsed within bounds.

    Raises:
        ExpressionMistakenError: If it is not such an expression. Spark does not
            evaluate it either: what is not parsed here could read files.
    """
    try:
        parsed = parse_sql(sql)
    except NotSQLError as error:
        raise ExpressionMistakenError(sql=sql, reason=error.reason) from None
    except PredicateError as error:
        raise ExpressionMistakenError(
            sql=sql, reason=error.reason, hint="Write it shorter."
        ) from None
    refuse_outside(sql, parsed.tree)
    return parsed


def compile_sql(
    sql: str | SQLText, schema: StructType, time_zone: str = UTC_ZONE
) -> BoundExpression:
    parsed = parse_expression(sql) if isinstance(sql, str) else sql
    text, tree = parsed.text, parsed.tree
    try:
        with in_zone(time_zone):
            return _Compiler(schema).node(with_padded_literals(tree, schema))
    except ExpressionError:
        raise
    except BadLiteralError as error:
        raise ExpressionMistakenError(
            sql=text, reason=str(error), hint=error.hint
        ) from None
    except (NotTranslatedError, PredicateError) as error:
        refuse_mistakes(text, tree, schema)
        refuse_growth(text, tree)  # before Spark is started for it
        reason = getattr(error, "reason", "") or str(error)
        raise ExpressionError(sql=text, reason=reason) from None
    except (pa.ArrowException, RecursionError, ValueError, OverflowError) as error:
        refuse_growth(text, tree)
        reason = str(error).partition("\n")[0][:200] or "it nests too deeply"
        raise ExpressionError(sql=text, reason=reason) from None


def named_columns(parsed: SQLText, schema: StructType) -> set[ColumnPath]:
    """Return the columns that an expression looks at, which compiles."""
    columns = parsed.tree.find_all(exp.Column)
    return {resolve_column(schema, column_names(column)) for column in columns}


class _Compiler:
    def __init__(self, schema: StructType) -> None:
        self.schema = schema
        self.readers: dict[type, Callable[..., BoundExpression]] = {
            exp.And: lambda e: all_of([self.node(part) for part in connected(e)]),
            exp.Or: lambda e: any_of([self.node(part) for part in connected(e)]),
            exp.Not: lambda e: negated(self.node(e.this)),
            exp.Is: self.is_constant,
            exp.NullSafeNEQ: lambda e: negated(
                compared("<=>", self.node(e.left), self.node(e.right))
            ),
            exp.Between: self.between,
            exp.In: self.in_list,
            exp.Like: lambda e: self.like(e, "\\"),
            exp.ILike: lambda e: self.like(e, "\\"),
            exp.Escape: self.escaped,
            exp.Case: self.case,
            exp.If: self.case_of_one,
            exp.Coalesce: lambda e: coalesced(self.nodes([e.this, *e.expressions])),
            exp.Nullif: lambda e: null_if_equal(*self.nodes([e.this, e.expression])),
            exp.Neg: self.negative,
            exp.Cast: self.cast,
            exp.Column: self.column,
            exp.Dot: self.column,
            exp.Literal: _literal,
            exp.Boolean: lambda e: literal(bool(e.this), pa.bool_()),
            exp.Null: lambda _: NULL,
            exp.HexString: lambda e: literal(bytes.fromhex(e.name), pa.binary()),
            exp.Concat: lambda e: concatenated(self.nodes(e.expressions)),
            exp.DPipe: lambda e: concatenated(self.nodes([e.left, e.right])),
            exp.Trim: self.trim,
            exp.TsOrDsAdd: lambda e: self.days(e, "date_add"),
            exp.DateDiff: lambda e: self.days(e, "datediff"),
            exp.Anonymous: lambda e: call(e.name, self.nodes(e.expressions)),
        }

    def nodes(self, expressions: Sequence[exp.Expr]) -> list[BoundExpression]:
        return [self.node(expression) for expression in expressions]

    def node(self, expression: exp.Expr) -> BoundExpression:
        expression = unwrapped(expression)
        kind = type(expression)
        if kind in self.readers:
            return self.readers[kind](expression)
        if kind in COMPARISONS:
            pair = self.nodes([expression.this, expression.expression])
            return compared(COMPARISONS[kind], *pair)
        if kind in _ARITHMETIC:
            pair = self.nodes([expression.this, expression.expression])
            return arithmetic(_ARITHMETIC[kind], *pair)
        if kind in _FUNCTIONS:
            return self.function(expression, _FUNCTIONS[kind])
        raise NotTranslatedError(_refusal(expression))

    def function(self, expression: exp.Expr, name: str) -> BoundExpression:
        keys = _ARGUMENTS.get(type(expression), ("this", "expression"))
        known = {key for key, value in expression.args.items() if value}
        if known - set(keys):
            raise NotTranslatedError(_refusal(expression))
        parts = [unwrapped(expression.args[key]) for key in keys if key in known]
        # The parser wraps the arguments of functions of dates in casts of its own.
        bare = [
            part.this if isinstance(part, exp.TsOrDsToDate) else part for part in parts
        ]
        return call(name, self.nodes(bare))

    def is_constant(self, expression: exp.Is) -> BoundExpression:
        """Read `a IS NULL`, `a IS TRUE`."""
        operand, constant = self.node(expression.this), unwrapped(expression.expression)
        if isinstance(constant, exp.Null):
            return null(operand)
        if isinstance(constant, exp.Boolean):
            return compared("<=>", operand, self.node(constant))
        raise NotTranslatedError(_refusal(expression))

    def between(self, expression: exp.Between) -> BoundExpression:
        """Read `a BETWEEN 1 AND 2`."""
        if expression.args.get("symmetric"):
            raise NotTranslatedError(_refusal(expression))
        value = self.node(expression.this)
        low, high = self.nodes([expression.args["low"], expression.args["high"]])
        return all_of([compared(">=", value, low), compared("<=", value, high)])

    def in_list(self, expression: exp.In) -> BoundExpression:
        """Read `a IN (1, 2)`."""
        if not expression.expressions:
            raise NotTranslatedError(_refusal(expression))
        return one_of(self.node(expression.this), self.nodes(expression.expressions))

    def like(self, expression: exp.Expr, escape: str) -> BoundExpression:
        """Read `a LIKE 'x%'`."""
        value, pattern = self.nodes([expression.this, expression.expression])
        ignore_case = isinstance(expression, exp.ILike)
        found = like(value, pattern, escape, ignore_case=ignore_case)
        return negated(found) if expression.args.get("negate") else found

    def escaped(self, expression: exp.Escape) -> BoundExpression:
        """Read `a LIKE 'x!%' ESCAPE '!'`."""
        escape = expression.expression.name
        inner = expression.this
        if len(escape) != 1 or not isinstance(inner, exp.Like | exp.ILike):
            raise NotTranslatedError(_refusal(expression))
        return self.like(inner, escape)

    def case(self, expression: exp.Case) -> BoundExpression:
        """Read `CASE WHEN a THEN b ELSE c END`, and that of a value."""
        operand = expression.this and self.node(expression.this)
        branches = []
        for branch in expression.args["ifs"]:
            test = self.node(branch.this)
            if operand:
                test = compared("=", operand, test)
            branches.append((test, self.node(branch.args["true"])))
        default = expression.args.get("default")
        return case(branches, self.node(default) if default else NULL)

    def case_of_one(self, expression: exp.If) -> BoundExpression:
        """Read `IF(a, b, c)`."""
        default = expression.args.get("false")
        branch = (self.node(expression.this), self.node(expression.args["true"]))
        return case([branch], self.node(default) if default else NULL)

    def negative(self, expression: exp.Neg) -> BoundExpression:
        inner = expression.this
        if isinstance(inner, exp.Literal) and not inner.is_string:
            return _number(f"-{inner.name}")
        if isinstance(inner, exp.Cast) and _is_suffixed(inner):
            signed = inner.copy()
            signed.this.set("this", f"-{inner.this.name}")
            return self.cast(signed)
        return negative(self.node(inner))

    def cast(self, expression: exp.Cast) -> BoundExpression:
        """Read `CAST(a AS INT)`, and literals such as `DATE '2026-01-31'`."""
        data_type = cast_type(expression)
        if type(expression) is not exp.Cast or data_type is None:
            raise NotTranslatedError(_refusal(expression))
        kind = arrow_type(data_type)
        inner = unwrapped(expression.this)
        if (
            isinstance(inner, exp.Literal)
            and not inner.is_string
            and (pa.types.is_floating(kind))
        ):
            # A suffix, as of 0.1F, is a cast as well: the number is read once.
            return cast(literal(inner.name, pa.string()), kind)
        return cast(self.node(inner), kind)

    def trim(self, expression: exp.Trim) -> BoundExpression:
        """Read `TRIM(a)`."""
        position = str(expression.args.get("position") or "").upper()
        if expression.expression or position not in {"", "LEADING", "TRAILING"}:
            raise NotTranslatedError(_refusal(expression))
        name = {"": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}[position]
        return call(name, [self.node(expression.this)])

    def days(self, expression: exp.Expr, name: str) -> BoundExpression:
        """Read `date_add(a, 1)`, `datediff(a, b)`; other units are not evaluated."""
        if expression.args["unit"].name.upper() != "DAY":
            raise NotTranslatedError(_refusal(expression))
        return call(name, self.nodes([expression.this, expression.expression]))

    def column(self, expression: exp.Expr) -> BoundExpression:
        """Read a column, nested ones as paths."""
        root = expression
        while isinstance(root, exp.Dot):
            root = root.this
        if not isinstance(root, exp.Column):  # a field of an element, say
            raise NotTranslatedError(_refusal(expression))
        try:
            path = resolve_column(self.schema, column_names(expression))
        except ColumnNotFoundError as error:
            message = error.message[:1].lower() + error.message[1:].rstrip(".")
            raise NotTranslatedError(message) from None
        kind = arrow_type(column_field(self.schema, path).data_type)

        def evaluate(rows: pa.RecordBatch) -> pa.Array:
            array = rows.column(path[0])
            for name in path[1:]:
                array = pc.struct_field(array, [name])
            return array

        length = char_length(self.schema, path)
        return padded(BoundExpression(kind, evaluate), length)


def _refusal(expression: exp.Expr) -> str:
    if isinstance(expression, exp.Func):
        return f"the function {expression.sql_name().lower()} is not evaluated here"
    return f"{shown(expression)} is not evaluated here"


def _is_suffixed(cast: exp.Cast) -> bool:
    """Tell whether a cast may be a number with a suffix, which takes a sign first.

    The parser makes a cast of -128Y whose type has no 128, and writes that of 1.5BD
    with a text.
    """
    number = cast.this
    is_number = isinstance(number, exp.Literal) and _NUMBER.fullmatch(number.name)
    return bool(is_number) and literal_kind(cast_type(cast)) == "number"


def _literal(expression: exp.Literal) -> BoundExpression:
    if expression.is_string:
        return literal(expression.name, pa.string())
    return _number(expression.name)


def _number(text: str) -> BoundExpression:
    """Return a number as Spark types it: whole, decimal, or double by an exponent."""
    if "e" in text.lower():
        if math.isinf(float(text)):
            message = f"{text[:80]} is beyond every double"
            raise NotTranslatedError(message)
        return literal(float(text), pa.float64())
    if "." not in text:
        number = int(text)
        if -_INT_MAX - 1 <= number <= _INT_MAX:
            return literal(number, pa.int32())
        if -_LONG_MAX - 1 <= number <= _LONG_MAX:
            return literal(number, pa.int64())
    exact = Decimal(text)
    _, digits, exponent = exact.as_tuple()
    scale = max(0, -int(exponent))
    precision = max(len(digits), scale)
    if precision > MAX_DIGITS:
        message = f"{text[:80]} has more than {MAX_DIGITS} digits"
        raise NotTranslatedError(message)
    return literal(exact, pa.decimal128(precision, scale))
