"""Comparisons and logic, as Spark has them: NaN equals itself and is the largest."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.conditions.exact import like_pattern
from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.scan.operators import OPERATORS
from deltaweb.delta.scan.predicate import Like, match_like
from deltaweb.expressions.bounds import check_made, text_bytes
from deltaweb.expressions.common_types import alike, common
from deltaweb.expressions.node import (
    NULL,
    BoundExpression,
    Evaluate,
    NotTranslatedError,
    NoValueError,
    Values,
    type_name,
    where,
)

BOOLEAN = pa.bool_()
TRUE, UNKNOWN = pa.scalar(value=True), pa.scalar(None, BOOLEAN)
NO_COLUMN: ColumnPath = ()
CASE_GROWTH: Final = 3
"""How many times as long a letter is at most in the other case, in bytes of UTF-8."""


def boolean(values: Evaluate) -> BoundExpression:
    return BoundExpression(BOOLEAN, values)


def compared(
    operator: str, left: BoundExpression, right: BoundExpression
) -> BoundExpression:
    left, right, kind = common(left, right)
    _refuse_nested(kind)
    compare = _by_sign(operator)

    def evaluate(rows: pa.RecordBatch) -> Values:
        # One side at least is an array, so that there is a value for each row.
        first = left.values(rows) if left.constant is None else left.constant
        if right.constant is not None and left.constant is None:
            return compare(first, right.constant)
        try:
            second = right.values(rows)
        except NoValueError:
            if operator == "<=>":
                raise
            # The right side is looked at only where there is a left one.
            has_left = left.values(rows).is_valid()
            second = where(rows, has_left, right.values, kind)
        return compare(first, second)

    return boolean(evaluate)


def _by_sign(sign: str) -> Callable[[Values, Values], Values]:
    """Return how values are compared; what is neither `=` nor `<` comes of these."""
    match sign:
        case "=":
            return _equal
        case "<":
            return _less
        case "<=>":
            return _same
        case ">":
            return lambda a, b: _less(b, a)
    opposite = _by_sign(OPERATORS[sign].denied)
    return lambda a, b: pc.invert(opposite(a, b))


def _equal(a: Values, b: Values) -> Values:
    found = pc.equal(a, b)
    if pa.types.is_floating(a.type):
        return pc.or_(found, pc.and_(pc.is_nan(a), pc.is_nan(b)))
    return found


def _less(a: Values, b: Values) -> Values:
    found = pc.less(a, b)
    if pa.types.is_floating(a.type):
        return pc.or_(found, pc.and_(pc.is_nan(b), pc.invert(pc.is_nan(a))))
    return found


def _same(a: Values, b: Values) -> Values:
    equal = pc.fill_null(_equal(a, b), fill_value=False)
    return pc.or_(equal, pc.and_(pc.is_null(a), pc.is_null(b)))


def one_of(
    value: BoundExpression, choices: Sequence[BoundExpression]
) -> BoundExpression:
    """Return IN: unknown where nothing is equal and a null is among them.

    The value and all choices are of one type, not each choice of the value's.
    """
    said = [choice for choice in choices if not choice.is_null]
    if not said:
        # It is looked at nevertheless, for it may have no value for a row.
        return boolean(lambda rows: pa.nulls(len(value.values(rows)), BOOLEAN))
    (value, *said), kind = alike([value, *said])
    _refuse_nested(kind)
    has_null = len(said) < len(choices)
    constants = [one.constant for one in said if one.constant is not None]
    if len(constants) == len(said):
        return _looked_up(value, constants, has_null=has_null)
    found = any_of([*(compared("=", value, one) for one in said), *[NULL] * has_null])

    def evaluate(rows: pa.RecordBatch) -> Values:
        # Where there is no value, no choice is looked at.
        return where(rows, value.values(rows).is_valid(), found.values, BOOLEAN)

    return boolean(evaluate)


def _looked_up(
    value: BoundExpression, constants: Sequence[pa.Scalar], *, has_null: bool
) -> BoundExpression:
    """Return IN with a list of constants, which are looked up at once."""
    is_floating = pa.types.is_floating(value.kind)
    wanted = pa.array(constants, value.kind)
    # The look-up goes by bits: zero has two signs, and NaN many spellings.
    has_nan = is_floating and bool(pc.any(pc.is_nan(wanted)).as_py())
    if is_floating:
        wanted = pc.add(wanted, 0.0).filter(pc.invert(pc.is_nan(wanted)))
    otherwise = pa.scalar(None if has_null else False, BOOLEAN)

    def evaluate(rows: pa.RecordBatch) -> Values:
        values = value.values(rows)
        looked_for = pc.add(values, 0.0) if is_floating else values
        found = pc.is_in(looked_for, value_set=wanted)
        if has_nan:
            found = pc.or_(found, pc.fill_null(pc.is_nan(values), fill_value=False))
        if not has_null and not values.null_count:
            return found
        judged = pc.if_else(found, TRUE, otherwise)
        return pc.if_else(values.is_valid(), judged, UNKNOWN)

    return boolean(evaluate)


def _refuse_nested(kind: pa.DataType) -> None:
    if pa.types.is_nested(kind):
        message = "nested values are not compared"
        raise NotTranslatedError(message)


def like(
    value: BoundExpression, pattern: BoundExpression, escape: str, *, ignore_case: bool
) -> BoundExpression:
    if pattern.is_null and pa.types.is_string(value.kind):
        return boolean(lambda rows: pa.nulls(rows.num_rows, BOOLEAN))
    if not isinstance(pattern.literal, str) or not pa.types.is_string(value.kind):
        message = "LIKE takes a text and a literal pattern"
        raise NotTranslatedError(message)
    text = lower_case(pattern.literal) if ignore_case else pattern.literal
    wanted = Like(NO_COLUMN, like_pattern(text, escape))
    if not ignore_case:
        return boolean(lambda rows: match_like(value.values(rows), wanted))
    lower = mapped_text("ILIKE", lower_case, CASE_GROWTH)
    return boolean(lambda rows: match_like(lower(value.values(rows)), wanted))


def lower_case(text: str) -> str:
    """Return a text in small letters, as `lower` and ILIKE have it."""
    return text.lower()


def mapped_text(
    name: str, convert: Callable[[str], str], growth: int = 1
) -> Callable[[Values], Values]:
    """Return what makes texts of others; of equal ones once.

    Args:
        growth: How many times as long that is at most, in bytes; texts of ASCII alone
            do not grow.
    """
    return lambda values: _mapped(name, values, convert, growth)


def _mapped(
    name: str, values: Values, convert: Callable[[str], str], growth: int
) -> Values:
    is_plain = growth == 1 or pc.all(pc.string_is_ascii(values)).as_py()
    check_made(name, text_bytes(values) * (1 if is_plain else growth))
    coded = values.dictionary_encode()
    made = [convert(text) for text in coded.dictionary.to_pylist()]
    return pa.array(made, pa.string()).take(coded.indices)


# === Logic ===


def truth(node: BoundExpression) -> BoundExpression:
    """Return a node that is a condition; NULL is unknown."""
    if node.is_null:
        return boolean(lambda rows: pa.nulls(rows.num_rows, BOOLEAN))
    if node.kind != BOOLEAN:
        message = f"a condition is needed, not a value of type {type_name(node.kind)}"
        raise NotTranslatedError(message)
    return node


def negated(node: BoundExpression) -> BoundExpression:
    part = truth(node)
    return boolean(lambda rows: pc.invert(part.values(rows)))


def all_of(parts: Sequence[BoundExpression]) -> BoundExpression:
    """Return AND, whose later parts see no row that an earlier one is false for."""
    conditions = [truth(part) for part in parts]

    def evaluate(rows: pa.RecordBatch) -> Values:
        found = conditions[0].values(rows)
        for part in conditions[1:]:
            open_rows = pc.fill_null(found, fill_value=True)
            more = _looked_at(part, rows, open_rows)
            found = pc.and_kleene(found, more)
        return found

    return boolean(evaluate)


def _looked_at(
    part: BoundExpression, rows: pa.RecordBatch, is_open: pa.BooleanArray
) -> Values:
    """Return a later part, for the rows that are open; the others do not matter.

    Where most are, it is quicker for all, unless a row that is not open has no value.
    """
    if 2 * is_open.true_count > len(is_open):
        with suppress(NoValueError, pa.ArrowException, OverflowError, ValueError):
            return part.values(rows)
    return where(rows, is_open, part.values, BOOLEAN)


def any_of(parts: Sequence[BoundExpression]) -> BoundExpression:
    """Return OR, whose later parts see no row that an earlier one is true for."""
    conditions = [truth(part) for part in parts]

    def evaluate(rows: pa.RecordBatch) -> Values:
        found = conditions[0].values(rows)
        for part in conditions[1:]:
            open_rows = pc.invert(pc.fill_null(found, fill_value=False))
            more = _looked_at(part, rows, open_rows)
            found = pc.or_kleene(found, more)
        return found

    return boolean(evaluate)
