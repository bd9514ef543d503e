"""The type that values of several types have in common, as Spark's ANSI mode has it.

Source: Spark SQL Reference, "ANSI Compliance", "Type Promotion and Precedence".
"""

from collections.abc import Sequence
from functools import reduce
from typing import Final

import pyarrow as pa

from deltaweb.expressions.casts import LOCAL_TIME, TIMESTAMP, cast
from deltaweb.expressions.node import (
    BadLiteralError,
    BoundExpression,
    NotTranslatedError,
    type_name,
    typed,
)

DIGITS: Final = {8: 3, 16: 5, 32: 10, 64: 20}
MAX_DIGITS: Final = 38


def common(
    left: BoundExpression, right: BoundExpression
) -> tuple[BoundExpression, BoundExpression, pa.DataType]:
    """Return two nodes as values of one type, as a comparison sees them."""
    kind = common_type(_kind_beside(left, right), _kind_beside(right, left))
    if pa.types.is_null(kind):
        kind = pa.bool_()
    return _as(left, kind), _as(right, kind), kind


def alike(
    nodes: Sequence[BoundExpression],
) -> tuple[list[BoundExpression], pa.DataType]:
    """Return nodes as values of the one type that all have in common.

    A list of IN and the branches of CASE have one: types are joined from the first
    node to the last, so that their order may matter where a text is among them.
    """
    kind = reduce(common_type, (node.kind for node in nodes))
    return [_as(node, kind) for node in nodes], kind


def _as(node: BoundExpression, kind: pa.DataType) -> BoundExpression:
    """Return a node as values of a type; a literal text has to be one."""
    found = cast(typed(node, kind), kind)
    if isinstance(node.literal, str) and found.constant is None:
        raise BadLiteralError(node.literal, kind)
    return found


def _kind_beside(node: BoundExpression, other: BoundExpression) -> pa.DataType:
    """Return the type of a node; a whole number beside a decimal has its own digits."""
    if isinstance(node.literal, int) and pa.types.is_decimal(other.kind):
        return pa.decimal128(len(str(abs(node.literal))), 0)
    return node.kind


def common_type(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """Return the type that values of two types have in common."""
    types = pa.types
    if left == right or types.is_null(right):
        return left
    if types.is_null(left):
        return right
    pair = (left, right)
    if all(map(is_number, pair)):
        return _common_number(left, right)
    if types.is_string(left) or types.is_string(right):
        return _beside_text(right if types.is_string(left) else left)
    times = (types.is_date32, types.is_timestamp)
    if all(any(kind(one) for kind in times) for one in pair):
        zoned = [one for one in pair if types.is_timestamp(one) and one.tz]
        return TIMESTAMP if zoned else LOCAL_TIME
    message = f"{type_name(left)} and {type_name(right)} are not compared"
    raise NotTranslatedError(message)


def _beside_text(kind: pa.DataType) -> pa.DataType:
    """Return what a text is cast to beside a value of another type."""
    types = pa.types
    if types.is_integer(kind):
        return pa.int64()
    if is_number(kind):
        return pa.float64()
    plain = (types.is_boolean, types.is_date32, types.is_timestamp, types.is_binary)
    if any(is_kind(kind) for is_kind in plain):
        return kind
    message = f"{type_name(kind)} and string are not compared"
    raise NotTranslatedError(message)


def is_number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
    )


def _common_number(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_floating(left) or types.is_floating(right):
        return pa.float64()
    if types.is_integer(left) and types.is_integer(right):
        return left if left.bit_width > right.bit_width else right
    one, other = as_decimal(left), as_decimal(right)
    scale = max(one.scale, other.scale)
    whole = max(one.precision - one.scale, other.precision - other.scale)
    # Where that is too much, digits of the fraction go, and values are rounded.
    scale = min(scale, max(0, MAX_DIGITS - whole))
    return pa.decimal128(whole + scale, scale)


def as_decimal(kind: pa.DataType) -> pa.DataType:
    """Return the decimal type that holds every value of a whole number's type."""
    if pa.types.is_decimal(kind):
        return kind
    return pa.decimal128(DIGITS[kind.bit_width], 0)
