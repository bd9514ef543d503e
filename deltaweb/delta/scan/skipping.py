"""Which files may hold a row that a condition is true for.

The question is asked of the partition values and the statistics of a file alone, and
of every part of a condition: may it be true for some row, or, below a NOT, may it be
false. Nothing has to be rewritten for that. Whatever is unknown may be. A file that
holds a matching row is never left out: that is the one promise, and the bounds of
statistics are read as loosely as writers write them.

    text        a largest value may be cut, so every value that starts with it may be
    timestamp   a largest value may be cut to the millisecond
    decimal     a bound may have gone through a double
    float       bounds say nothing of NaN
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from functools import reduce
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.scan.operators import OPERATORS
from deltaweb.delta.scan.predicate import (
    And,
    Comparison,
    Constant,
    In,
    IsNull,
    Like,
    Not,
    Or,
    Predicate,
    match_like,
)

Mask: TypeAlias = npt.NDArray[np.bool_]

MAX_VALUES_COMPARED = 64
"""Longer lists of IN are judged by their smallest and largest value."""

_MICROS_CUT = 999
_MAX_PREFIXES = 512
_DOUBLE_DIGITS = 15
_DOUBLE_SLACK = Decimal(2) ** -50


@dataclass(frozen=True)
class ColumnRange:
    """What is known of the values of one column, an entry a file.

    Attributes:
        low: No value is smaller; null is unknown.
        high: No value is larger, save for what writers cut; null is unknown.
        is_exact: Whether `low` and `high` are the only value there is.
        all_null: Files whose every row is null in this column.
        some_null: Files in which a row may be null.
        cut_bytes: A largest text of fewer bytes is known to be whole. What skips files
            trusts none, since writers cut where they like; what proves that nothing
            else is in a file knows the length that the specification's writers keep.
    """

    low: pa.Array
    high: pa.Array
    is_exact: bool
    all_null: Mask
    some_null: Mask
    cut_bytes: int = 0


def may_match(
    predicate: Predicate, ranges: Mapping[ColumnPath, ColumnRange], num_files: int
) -> Mask:
    """Mark the files that may hold a row for which `predicate` is true.

    Args:
        ranges: What is known of columns; a column that is absent is unknown.

    Returns:
        A boolean a file.
    """
    return _may_be(predicate, ranges, num_files, wanted=True)


def _may_be(
    predicate: Predicate,
    ranges: Mapping[ColumnPath, ColumnRange],
    num_files: int,
    *,
    wanted: bool,
) -> Mask:
    """May the condition be as wanted, true or false, for some row of each file?"""
    match predicate:
        case Constant(value):
            return np.full(num_files, value is wanted)
        case Not(part):
            return _may_be(part, ranges, num_files, wanted=not wanted)
        case And(parts) | Or(parts):
            # One part at a time: a condition of many parts holds few masks.
            masks = (_may_be(part, ranges, num_files, wanted=wanted) for part in parts)
            # AND is true where all parts are, and OR is false where all parts are.
            is_all = isinstance(predicate, And) is wanted
            combine = operator.and_ if is_all else operator.or_
            return reduce(combine, masks, np.full(num_files, is_all))
        case _:
            known = ranges.get(predicate.column)
            if known is not None:
                return _leaf(predicate, known, wanted=wanted)
    return np.ones(num_files, np.bool_)


def _leaf(
    predicate: Comparison | In | Like | IsNull,
    known: ColumnRange,
    *,
    wanted: bool,
) -> Mask:
    some_value: Mask = ~known.all_null
    if isinstance(predicate, IsNull):
        return known.some_null if wanted else some_value
    if pa.types.is_null(known.low.type):
        # Nulls can be counted of a column that has no bounds.
        return some_value if wanted else np.ones(len(known.low), np.bool_)
    match predicate:
        case Comparison(_, name, value):
            return some_value & _compared(known, name, value, wanted=wanted)
        case In():
            return some_value & _listed(known, predicate, wanted=wanted)
        case _:
            return some_value & _like(known, predicate, wanted=wanted)


# === One column beside one value ===


def _like(known: ColumnRange, predicate: Like, *, wanted: bool) -> Mask:
    if known.is_exact:
        matches = _bools(match_like(known.low, predicate))
        return matches if wanted else ~matches
    if not wanted:
        return np.ones(len(known.low), np.bool_)
    return _starts_with(known, predicate.prefix)


def _starts_with(known: ColumnRange, prefix: str) -> Mask:
    if not prefix:
        return np.ones(len(known.low), np.bool_)
    reaches_down = _at_most(known, prefix) | _bools(pc.starts_with(known.low, prefix))
    return reaches_down & _at_least(known, prefix)


def _compared(known: ColumnRange, name: str, value: pa.Scalar, *, wanted: bool) -> Mask:
    """May a value that is not null compare so with the literal, or not?"""
    literal = _physical(value)
    # Bounds do not tell of NaN, which is unequal to every literal.
    may_be_nan = pa.types.is_floating(known.low.type) and not known.is_exact
    is_nan = isinstance(literal, float) and literal != literal  # noqa: PLR0124 # NaN
    if is_nan or (may_be_nan and (name == "!=") is wanted):
        return np.ones(len(known.low), np.bool_)
    asked = OPERATORS[name if wanted else OPERATORS[name].denied]
    ends = []
    if asked.of_low is not None:
        is_strict = asked.of_low is operator.lt
        ends.append(_at_most(known, literal, strictly=is_strict))
    if asked.of_high is not None:
        is_strict = asked.of_high is operator.gt
        ends.append(_at_least(known, literal, strictly=is_strict))
    return reduce(operator.or_ if asked.sign == "!=" else operator.and_, ends)


def _is_certain(known: ColumnRange) -> bool:
    """Is each file's value known, and equal to itself?"""
    return known.is_exact and not pa.types.is_floating(known.low.type)


def _listed(known: ColumnRange, predicate: In, *, wanted: bool) -> Mask:
    if wanted:
        return _in_list(known, predicate)
    # Where there is one value alone, it is in the list or it is not.
    if _is_certain(known):
        return ~_in_list(known, predicate)
    return np.ones(len(known.low), np.bool_)


def _in_list(known: ColumnRange, predicate: In) -> Mask:
    if _is_certain(known) and predicate.values:
        return _bools(pc.is_in(known.low, pa.array(predicate.values, known.low.type)))
    literals = [_physical(value) for value in predicate.values]
    literals = [literal for literal in literals if literal == literal]  # noqa: PLR0124 # NaN equals nothing
    if len(literals) <= MAX_VALUES_COMPARED:
        found = np.zeros(len(known.low), np.bool_)
        for literal in literals:
            found |= _at_most(known, literal) & _at_least(known, literal)
        return found
    smallest, largest = min(literals), max(literals)
    return _at_most(known, largest) & _at_least(known, smallest)


Physical: TypeAlias = str | int | float | bool | Decimal | bytes


def _physical(value: pa.Scalar) -> Physical:
    """A literal as a Python value; dates and times as the integers they are."""
    if pa.types.is_timestamp(value.type):
        return int(value.cast(pa.int64()).as_py())
    if pa.types.is_date32(value.type):
        return int(value.cast(pa.int32()).as_py())
    literal: Physical = value.as_py()
    return literal


def _at_most(known: ColumnRange, literal: Physical, *, strictly: bool = False) -> Mask:
    """May some value be at most, or strictly below, the literal?"""
    compare = pc.less if strictly else pc.less_equal
    if isinstance(literal, Decimal) and not known.is_exact:
        return _decimal_bound(known.low, literal, compare, upwards=True)
    return _holds(known.low, literal, compare)


def _at_least(known: ColumnRange, literal: Physical, *, strictly: bool = False) -> Mask:
    """May some value be at least, or strictly above, the literal?"""
    compare = pc.greater if strictly else pc.greater_equal
    high = known.high
    if known.is_exact:
        return _holds(high, literal, compare)
    if isinstance(literal, Decimal):
        return _decimal_bound(high, literal, compare, upwards=False)
    if pa.types.is_timestamp(high.type) and isinstance(literal, int):
        return _holds(high, literal - _MICROS_CUT, compare)
    if isinstance(literal, str):
        return _reaches_text(high, literal, compare, known.cut_bytes)
    return _holds(high, literal, compare)


def _reaches_text(
    high: pa.Array, literal: str, compare: Callable[..., pa.Array], cut_bytes: int
) -> Mask:
    """May a text be as large, when the largest is kept cut?

    The start of a long literal stands for it: it is smaller, so it is reached sooner.
    """
    start = literal[:_MAX_PREFIXES]
    mask = _holds(high, start, compare if start == literal else pc.greater_equal)
    prefixes = [start[:end] for end in range(1, len(start) + 1)]
    is_prefix = pc.is_in(high, pa.array(prefixes, high.type))
    if cut_bytes:
        may_be_cut = pc.greater_equal(pc.binary_length(high), cut_bytes)
        is_prefix = pc.and_(is_prefix, may_be_cut)
    mask |= _bools(is_prefix, unknown=False)
    return mask


def _holds(
    bound: pa.Array, literal: Physical, compare: Callable[..., pa.Array]
) -> Mask:
    """Compare a bound with a literal; an unknown bound may be anything."""
    if pa.types.is_timestamp(bound.type):
        bound = bound.cast(pa.int64())
    elif pa.types.is_date32(bound.type):
        bound = bound.cast(pa.int32())
    try:
        scalar = pa.scalar(literal, bound.type)
    except (pa.ArrowInvalid, OverflowError):
        return np.ones(len(bound), np.bool_)
    mask = _bools(compare(bound, scalar))
    if pa.types.is_floating(bound.type):
        mask |= _bools(pc.is_nan(bound), unknown=False)
    return mask


def _decimal_bound(
    bound: pa.Array,
    literal: Decimal,
    compare: Callable[..., pa.Array],
    *,
    upwards: bool,
) -> Mask:
    """Compare a bound that may have gone through a double with a literal."""
    if bound.type.precision > _DOUBLE_DIGITS:
        with localcontext(prec=100):
            slack = abs(literal) * _DOUBLE_SLACK
            unit = Decimal(1).scaleb(-bound.type.scale)
            moved = literal + slack if upwards else literal - slack
            rounding = ROUND_CEILING if upwards else ROUND_FLOOR
            literal = moved.quantize(unit, rounding=rounding)
    return _holds(bound, literal, compare)


def _bools(array: pa.Array, *, unknown: bool = True) -> Mask:
    if array.null_count:
        array = pc.fill_null(array, unknown)
    mask: Mask = array.to_numpy(zero_copy_only=False)  # of bits, so it is a copy
    return mask
