"""Literal times of a zone as instants, so that they depend on no session.

Only those are looked at that are instants where they stand: beside an instant, or by
their type.
"""

from collections.abc import Callable

import pyarrow as pa
from sqlglot import exp

from deltaweb.conditions.sql import unwrapped
from deltaweb.delta.values.time_zones.rules import CLOCK, ZoneRules, to_instants
from deltaweb.expressions.node import BoundExpression
from deltaweb.expressions.session.joined_types import is_zoned, says_zone
from deltaweb.expressions.session.operands import PAIRS, joined
from deltaweb.expressions.text_values import local_micros_of

Bind = Callable[[exp.Expr], BoundExpression]


def with_instants(part: exp.Expr, bind: Bind, zone: ZoneRules) -> exp.Expr:
    """Return a comparison whose literal times are instants, where they stand for some.

    Args:
        part: A comparison; all else stays as it is.
    """
    part = unwrapped(part)
    if isinstance(part, exp.Not):
        return exp.Not(this=with_instants(part.this, bind, zone))
    if not isinstance(part, (exp.Between, exp.In, *PAIRS)):
        return part
    groups = joined(part) or []
    operands = [unwrapped(operand) for group in groups for operand in group]
    if not any(is_zoned(bind(operand).kind) for operand in operands):
        return part
    found = part.copy()
    for group in joined(found) or []:
        for operand in group:
            instant = _instant(unwrapped(operand), bind, zone)
            if instant is not None:
                operand.replace(instant)
    return found


def _instant(operand: exp.Expr, bind: Bind, zone: ZoneRules) -> exp.Expr | None:
    """Return a literal time as an instant; None for what is none, or is one."""
    inner = unwrapped(operand.this) if isinstance(operand, exp.Cast) else operand
    if not isinstance(inner, exp.Literal) or not inner.is_string:
        return None
    kind = bind(operand).kind
    is_day = pa.types.is_date32(kind)
    if not (is_day or pa.types.is_timestamp(kind) or operand is inner):
        return None
    if says_zone(bind(inner)):
        return None
    try:
        micros = local_micros_of(inner.name[:10] if is_day else inner.name)
        shown = pa.array([micros]).cast(CLOCK)
        instants = to_instants(shown.cast(kind) if is_day else shown, zone)
        [moment] = instants.to_pylist()
    except (ValueError, OverflowError):
        return None
    text = exp.Literal.string(moment.isoformat().replace("+00:00", "Z"))
    return exp.cast(text, exp.DataType.Type.TIMESTAMPTZ)
