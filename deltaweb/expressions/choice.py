"""CASE, COALESCE and their kin: a branch sees the rows alone that it is chosen for."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.expressions.bounds import check_made, text_bytes
from deltaweb.expressions.common_types import alike
from deltaweb.expressions.comparison import boolean, compared, truth
from deltaweb.expressions.node import NULL, BoundExpression, Values, typed, where

Branch = tuple[BoundExpression, BoundExpression]
"""A condition, and the value where it is the first that is true."""


def case(
    branches: Sequence[Branch], otherwise: BoundExpression = NULL
) -> BoundExpression:
    """Return CASE WHEN ... ELSE ... END."""
    values, kind = alike([*(value for _, value in branches), otherwise])
    *chosen_values, last = values
    tests = [truth(test) for test, _ in branches]
    steps = [*zip(tests, chosen_values, strict=True)]

    def evaluate(rows: pa.RecordBatch) -> Values:
        left = pa.repeat(pa.scalar(value=True), rows.num_rows)
        found = pa.nulls(rows.num_rows, kind)
        for test, value in steps:
            is_true = where(rows, left, test.values, pa.bool_())
            chosen = pc.and_(left, pc.fill_null(is_true, fill_value=False))
            found = _filled(rows, chosen, value, found)
            left = pc.and_not(left, chosen)
        return _filled(rows, left, last, found)

    return BoundExpression(kind, evaluate)


def _filled(
    rows: pa.RecordBatch, chosen: pa.BooleanArray, value: BoundExpression, found: Values
) -> Values:
    if not chosen.true_count:
        return found
    more = where(rows, chosen, value.values, value.kind)
    check_made("CASE", text_bytes(more) + text_bytes(found))
    return pc.if_else(chosen, more, found)


def coalesced(nodes: Sequence[BoundExpression]) -> BoundExpression:
    """Return the first value that is not null."""
    values, kind = alike(nodes)
    if pa.types.is_null(kind):
        return NULL
    return case([(not_null(value), value) for value in values])


def not_null(node: BoundExpression) -> BoundExpression:
    """Return IS NOT NULL."""
    return boolean(lambda rows: node.values(rows).is_valid())


def null(node: BoundExpression) -> BoundExpression:
    """Return IS NULL."""
    return boolean(lambda rows: node.values(rows).is_null())


def null_if_equal(left: BoundExpression, right: BoundExpression) -> BoundExpression:
    """Return NULLIF."""
    return case([(compared("=", left, right), typed(NULL, left.kind))], left)
