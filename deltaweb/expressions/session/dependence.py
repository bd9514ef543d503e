"""What of an expression depends on the settings of a session.

What does not has the same values wherever it is evaluated: here, and by every engine.
All else is left to the engine of the session, and files are chosen by nothing of it.

On the zone depends what makes a time of UTC from a day, a text or a time of a clock, or
one of these from it. On ANSI mode depend types that are not alike, and whatever may
have no value: casts of values, arithmetic. What is not known to depend on nothing
depends on all.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import pyarrow as pa
from sqlglot import exp

from deltaweb.conditions.sql import connected, unwrapped
from deltaweb.conditions.sql_text import SQLText
from deltaweb.delta.protocol.schema import StructField, StructType, arrow_type
from deltaweb.delta.values.text_casts import local_micros_of
from deltaweb.delta.values.time_zones.rules import CLOCK, ZoneRules, to_instants
from deltaweb.expressions.compiler import compile_sql, parse_expression
from deltaweb.expressions.errors import ExpressionError
from deltaweb.expressions.node import BoundExpression
from deltaweb.expressions.session.joined_types import (
    are_alike,
    is_time,
    is_zoned,
    mix_zones,
    says_zone,
)
from deltaweb.expressions.session.operands import PAIRS, VALUES, joined, operands
from deltaweb.expressions.session.settings import SessionSettings
from deltaweb.expressions.session.zone_times import zone_of

_LOGIC: Final = (exp.And, exp.Or, exp.Not, exp.Is)
_OF_TEXTS: Final = (
    *(exp.Like, exp.ILike, exp.Escape, exp.StartsWith, exp.EndsWith, exp.Contains),
    *(exp.Upper, exp.Lower, exp.Length, exp.Trim, exp.Replace, exp.Concat, exp.DPipe),
)
_OF_TIMES: Final = (
    *(exp.Year, exp.Quarter, exp.Month, exp.Day, exp.DayOfMonth, exp.DayOfWeek),
    *(exp.DayOfYear, exp.Hour, exp.Minute, exp.Second, exp.Date, exp.TsOrDsToDate),
)
_TESTS_OF_NULL: Final = frozenset({"isnull", "isnotnull"})


class Dependence:
    """Tells of expressions over rows of a schema what depends on a session."""

    def __init__(self, schema: StructType, settings: SessionSettings) -> None:
        self._schema = schema
        self._settings = settings

    def of(self, sql: str | SQLText) -> bool:
        """Return whether an expression has to be evaluated by the session.

        What is not evaluated here at all depends on it, unless its settings are ours.
        """
        if self._settings.are_ours:
            return False
        try:
            parsed = parse_expression(sql) if isinstance(sql, str) else sql
        except ExpressionError:
            return True
        return self._depends(parsed.tree)

    def of_value(self, sql: str, column: StructField) -> bool:
        """Return whether the value that a column takes depends on the session.

        The cast to the column's type is ANSI's, whatever the session's mode.
        """
        if self.of(sql):
            return True
        if self._settings.is_utc:
            return False
        value = self._bound(parse_expression(sql).tree)
        return not value.is_null and is_zoned(value.kind) != is_zoned(
            arrow_type(column.data_type)
        )

    def without(self, condition: SQLText) -> tuple[SQLText, bool] | None:
        """Return what holds wherever a condition does, and does not depend.

        And whether it is the whole condition; None where nothing is known.
        """
        if self._settings.are_ours:
            return condition, True
        tree, is_whole = self._independent(condition.tree)
        if tree is None:
            return None
        return SQLText(condition.text, condition.tokens, tree), is_whole

    def _independent(self, expression: exp.Expr) -> tuple[exp.Expr | None, bool]:
        expression = unwrapped(expression)
        if not isinstance(expression, exp.And | exp.Or):
            known = self._with_instants(expression)
            depends = self._depends(expression, known)
            return (None, False) if depends else (known, True)
        parts = [self._independent(part) for part in connected(expression)]
        held = [part for part, _ in parts if part is not None]
        is_whole = all(is_whole for _, is_whole in parts)
        if isinstance(expression, exp.And):
            return (exp.and_(*held) if held else None), is_whole
        return (exp.or_(*held) if len(held) == len(parts) else None), is_whole

    def _with_instants(self, expression: exp.Expr) -> exp.Expr:
        """Return a condition whose literal times have the zone that is known."""
        zone = zone_of(self._settings.time_zone)
        if zone is None:
            return expression
        try:
            return with_instants(expression, self._bound, zone)
        except ExpressionError:
            return expression

    # === One expression, with all that is in it ===

    def _depends(self, tree: exp.Expr, zoned: exp.Expr | None = None) -> bool:
        """Tell whether an expression depends on the session.

        Args:
            zoned: The same with the instants of the session's zone in it.
        """
        if not self._settings.is_usual:
            return True
        try:
            self._bound(tree)
            on_zone = not self._settings.is_utc and any(
                self._crosses_zones(part) for part in _parts(zoned or tree)
            )
            return on_zone or (
                not self._settings.is_ansi
                and not all(self._is_alike(part) for part in _parts(tree))
            )
        except ExpressionError:
            return True

    def _crosses_zones(self, part: exp.Expr) -> bool:
        """Tell whether an instant becomes a time of a clock, or the other way."""
        groups = joined(part)
        if groups is not None:
            return any(mix_zones(self._all_bound(group)) for group in groups)
        [whole, *inside] = self._all_bound([part, *operands(part)])
        if isinstance(part, exp.Cast):
            crosses = is_zoned(inside[0].kind) != is_zoned(whole.kind)
            return crosses and not says_zone(inside[0])
        return any(is_zoned(node.kind) for node in (whole, *inside))

    def _is_alike(self, part: exp.Expr) -> bool:
        """Tell whether it has a value in every mode, and the same in each."""
        groups = joined(part)
        if groups is not None:
            are_compared = isinstance(part, (exp.Between, *PAIRS))
            return all(
                are_alike(self._all_bound(group), are_compared=are_compared)
                for group in groups
            )
        inside = self._all_bound(operands(part))
        if isinstance(part, exp.Cast | exp.Neg):
            whole = self._bound(part)
            if isinstance(unwrapped(part.this), exp.Literal):
                return whole.constant is not None
            return all(is_time(node.kind) for node in (whole, *inside))
        if isinstance(part, exp.Substring):
            are_numbers = all(isinstance(node.literal, int) for node in inside[1:])
            return are_numbers and pa.types.is_string(inside[0].kind)
        if isinstance(part, _OF_TEXTS):
            kinds = (pa.types.is_string, pa.types.is_boolean)
            return all(any(kind(node.kind) for kind in kinds) for node in inside)
        return isinstance(part, _OF_TIMES) and all(
            is_time(node.kind) for node in inside
        )

    def _bound(self, expression: exp.Expr) -> BoundExpression:
        return compile_sql(SQLText("", (), expression), self._schema)

    def _all_bound(self, expressions: Sequence[exp.Expr]) -> list[BoundExpression]:
        return [self._bound(expression) for expression in expressions]


def _parts(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Yield an expression and all that is in it, but what makes no other type."""
    waiting = [tree]
    while waiting:
        expression = unwrapped(waiting.pop())
        if isinstance(expression, exp.And | exp.Or):
            waiting += connected(expression)
            continue
        waiting += operands(expression)
        if not _is_plain(expression):
            yield expression


def _is_plain(part: exp.Expr) -> bool:
    """Tell whether an expression makes no value of another type."""
    if isinstance(part, exp.Anonymous):
        return part.name.lower() in _TESTS_OF_NULL
    return isinstance(part, (*_LOGIC, *VALUES, exp.HexString))


# === Times without a zone ===


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
