"""Whether values of several types are made one type alike by every session.

What Spark joins one way in ANSI mode and another way without it is not, nor is what
takes a zone. Source: Spark, `TypeCoercion` and `AnsiTypeCoercion`.
"""

from collections.abc import Sequence

import pyarrow as pa

from deltaweb.delta.values.text_casts import names_zone
from deltaweb.expressions.common_types import MAX_DIGITS, as_decimal, is_number
from deltaweb.expressions.node import BoundExpression


def is_zoned(kind: pa.DataType) -> bool:
    """Tell whether values of a type are instants."""
    return bool(pa.types.is_timestamp(kind) and kind.tz)


def is_time(kind: pa.DataType) -> bool:
    """Tell whether values of a type are days, instants or times of a clock."""
    return bool(pa.types.is_date32(kind) or pa.types.is_timestamp(kind))


def says_zone(node: BoundExpression) -> bool:
    """Tell whether an expression is a literal text that is an instant by itself."""
    return isinstance(node.literal, str) and names_zone(node.literal)


def mix_zones(nodes: Sequence[BoundExpression]) -> bool:
    """Tell whether some of several values become instants, or no longer are any."""
    said = [node for node in nodes if not node.is_null]
    instants = [is_zoned(node.kind) for node in said]
    return any(instants) and not all(
        is_instant or says_zone(node)
        for node, is_instant in zip(said, instants, strict=True)
    )


def are_alike(nodes: Sequence[BoundExpression], *, are_compared: bool) -> bool:
    """Tell whether several values are joined alike with and without ANSI mode.

    Args:
        are_compared: Whether one is compared with another by an operator; what lists
            and branches have in common is found in another way.
    """
    said = [node for node in nodes if not node.is_null]
    kinds = [node.kind for node in said]
    if len({str(kind) for kind in kinds}) <= 1 or all(map(is_time, kinds)):
        return True
    if all(map(is_number, kinds)):
        return _are_alike_numbers(kinds, are_compared=are_compared)
    if not are_compared or len(said) < len(nodes):
        return False
    # A literal text beside a day or a time is one in every mode; in a list all are
    # texts without ANSI mode.
    texts = [node for node in said if isinstance(node.literal, str)]
    return len(texts) == 1 and any(map(is_time, kinds))


def _are_alike_numbers(kinds: Sequence[pa.DataType], *, are_compared: bool) -> bool:
    if not any(pa.types.is_floating(kind) for kind in kinds):
        exact = [as_decimal(kind) for kind in kinds]
        whole = max(kind.precision - kind.scale for kind in exact)
        scale = max(kind.scale for kind in exact)
        return bool(whole + scale <= MAX_DIGITS)
    # Whole numbers beside a float are doubles in ANSI mode, and floats without it.
    has_single = any(map(pa.types.is_float32, kinds))
    has_whole = any(map(pa.types.is_integer, kinds))
    is_double_first = pa.types.is_float64(kinds[0])
    return not (has_single and has_whole) and (are_compared or is_double_first)
