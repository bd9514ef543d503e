"""Arithmetic, as Spark's ANSI mode has it: what overflows is an error."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.expressions.casts import cast
from deltaweb.expressions.common_types import MAX_DIGITS, as_decimal, common_type
from deltaweb.expressions.node import (
    BoundExpression,
    NotTranslatedError,
    NoValueError,
    Values,
    type_name,
    typed,
)

DOUBLE = pa.float64()
_CHECKED: dict[str, Callable[[Any, Any], Values]] = {
    "+": pc.add_checked,
    "-": pc.subtract_checked,
    "*": pc.multiply_checked,
}
_UNCHECKED: dict[str, Callable[[Any, Any], Values]] = {
    "+": pc.add,
    "-": pc.subtract,
    "*": pc.multiply,
}


def arithmetic(
    operator: str, left: BoundExpression, right: BoundExpression
) -> BoundExpression:
    """Return `+`, `-`, `*`, `/`, `%` or `DIV` of two numbers."""
    left, right = _number(left, right), _number(right, left)
    if operator == "/":
        return _division(left, right)
    if operator in {"%", "DIV"}:
        return _remainder(operator, left, right)
    kinds = (left.kind, right.kind)
    if any(map(pa.types.is_decimal, kinds)) and not any(
        map(pa.types.is_floating, kinds)
    ):
        return _decimal(operator, left, right)
    kind = common_type(left.kind, right.kind)
    if pa.types.is_floating(kind) and left.kind == right.kind:
        kind = left.kind
    return _calculated(_CHECKED[operator], cast(left, kind), cast(right, kind), kind)


def _number(node: BoundExpression, other: BoundExpression) -> BoundExpression:
    if node.is_null:
        return typed(node, other.kind if not other.is_null else pa.int32())
    if not (
        pa.types.is_integer(node.kind)
        or pa.types.is_floating(node.kind)
        or pa.types.is_decimal(node.kind)
    ):
        message = f"arithmetic with {type_name(node.kind)} is not evaluated here"
        raise NotTranslatedError(message)
    return node


def _calculated(
    calculate: Callable[[Any, Any], Values],
    left: BoundExpression,
    right: BoundExpression,
    kind: pa.DataType,
) -> BoundExpression:
    def evaluate(rows: pa.RecordBatch) -> Values:
        try:
            return calculate(left.values(rows), right.values(rows))
        except pa.ArrowInvalid as error:
            raise NoValueError(str(error).partition("\n")[0][:120]) from None

    return BoundExpression(kind, evaluate)


def _decimal(
    operator: str, left: BoundExpression, right: BoundExpression
) -> BoundExpression:
    one, other = as_decimal(left.kind), as_decimal(right.kind)
    if operator == "*":
        precision, scale = one.precision + other.precision + 1, one.scale + other.scale
    else:
        scale = max(one.scale, other.scale)
        whole = max(one.precision - one.scale, other.precision - other.scale)
        precision = whole + scale + 1
    if precision > MAX_DIGITS:
        pair = f"{type_name(left.kind)} {operator} {type_name(right.kind)}"
        message = f"{pair} has more than {MAX_DIGITS} digits"
        raise NotTranslatedError(message)
    kind = pa.decimal128(precision, scale)
    return _calculated(_UNCHECKED[operator], cast(left, one), cast(right, other), kind)


def _division(left: BoundExpression, right: BoundExpression) -> BoundExpression:
    if pa.types.is_decimal(left.kind) or pa.types.is_decimal(right.kind):
        message = "a division of decimals is not evaluated here"
        raise NotTranslatedError(message)
    return _calculated(_quotient, cast(left, DOUBLE), cast(right, DOUBLE), DOUBLE)


def _quotient(left: Values, right: Values) -> Values:
    _check_divisor(left, right)
    return pc.divide(left, right)


def _check_divisor(left: Values, right: Values) -> None:
    by_zero = pc.and_(pc.equal(right, 0), left.is_valid())
    if pc.any(by_zero).as_py():
        message = "it divides by zero"
        raise NoValueError(message)


def _remainder(
    operator: str, left: BoundExpression, right: BoundExpression
) -> BoundExpression:
    if not (pa.types.is_integer(left.kind) and pa.types.is_integer(right.kind)):
        message = f"{operator} is evaluated here only for whole numbers"
        raise NotTranslatedError(message)
    kind = common_type(left.kind, right.kind)
    if operator == "DIV":
        kind = pa.int64()

    def calculate(one: Values, other: Values) -> Values:
        _check_divisor(one, other)
        other = pc.if_else(pc.equal(other, 0), None, other)
        if operator == "DIV":
            return pc.divide_checked(one, other)
        # -1 leaves nothing, and is the one divisor whose quotient may overflow.
        safe = pc.if_else(pc.equal(other, -1), pa.scalar(1, kind), other)
        return pc.subtract(one, pc.multiply(pc.divide(one, safe), safe))

    return _calculated(calculate, cast(left, kind), cast(right, kind), kind)


def negative(node: BoundExpression) -> BoundExpression:
    """Return a number with the other sign."""
    part = _number(node, node)
    if pa.types.is_decimal(part.kind) or pa.types.is_floating(part.kind):
        return BoundExpression(part.kind, lambda rows: pc.negate(part.values(rows)))
    return _calculated(lambda one, _: pc.negate_checked(one), part, part, part.kind)
