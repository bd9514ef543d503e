"""Comparisons and logic, as Spark has them: NaN equals itself and is the largest."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.scan.predicate import Like, match_like
from deltaweb.expressions.casts import common
from deltaweb.expressions.node import (
    BoundExpression,
    Evaluate,
    NotTranslatedError,
    Values,
    where,
)

BOOLEAN = pa.bool_()
LONG, TEXT = pa.int64(), pa.string()
TRUE, UNKNOWN = pa.scalar(value=True), pa.scalar(None, BOOLEAN)
NO_COLUMN: ColumnPath = ()


def boolean(values: Evaluate) -> BoundExpression:
    """Return a condition."""
    return BoundExpression(BOOLEAN, values)


def compared(
    operator: str, left: BoundExpression, right: BoundExpression
) -> BoundExpression:
    """Return a comparison: `=`, `!=`, `<`, `<=`, `>`, `>=` or `<=>`."""
    left, right, kind = common(left, right)
    if pa.types.is_nested(kind):
        message = "nested values are not compared"
        raise NotTranslatedError(message)
    compare = {
        "=": _equal,
        "!=": lambda a, b: pc.invert(_equal(a, b)),
        "<": _less,
        ">": lambda a, b: _less(b, a),
        "<=": lambda a, b: pc.invert(_less(b, a)),
        ">=": lambda a, b: pc.invert(_less(a, b)),
        "<=>": _same,
    }[operator]
    return boolean(lambda rows: compare(left.values(rows), right.values(rows)))


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
    return pc.or_(equal, pc.and_(a.is_null(), b.is_null()))


def one_of(
    value: BoundExpression, choices: Sequence[BoundExpression]
) -> BoundExpression:
    """Return IN: unknown where nothing is equal and a null is among them."""
    said = [choice for choice in choices if not choice.is_null]
    kind = _looked_up_as(value, said)
    if kind is None:
        return any_of([compared("=", value, choice) for choice in choices])
    wanted = pa.array([choice.literal for choice in said], kind)
    otherwise = pa.scalar(None if len(said) < len(choices) else False, BOOLEAN)

    def evaluate(rows: pa.RecordBatch) -> Values:
        values = value.values(rows).cast(kind)
        found = pc.is_in(values, value_set=wanted)
        if len(said) == len(choices) and not values.null_count:
            return found
        judged = pc.if_else(found, TRUE, otherwise)
        return pc.if_else(values.is_valid(), judged, UNKNOWN)

    return boolean(evaluate)


def _looked_up_as(
    value: BoundExpression, choices: Sequence[BoundExpression]
) -> pa.DataType | None:
    """Return the type of literals that are looked up at once; None for one by one.

    Whole numbers and texts are: they equal what is the same, and nothing else.
    """
    if not choices or any(choice.literal is None for choice in choices):
        return None
    kinds = [value.kind, *(choice.kind for choice in choices)]
    if all(pa.types.is_integer(kind) for kind in kinds):
        return LONG
    return TEXT if all(kind == TEXT for kind in kinds) else None


def like(
    value: BoundExpression, pattern: BoundExpression, escape: str, *, ignore_case: bool
) -> BoundExpression:
    """Return LIKE with a literal pattern."""
    if not isinstance(pattern.literal, str) or not pa.types.is_string(value.kind):
        message = "LIKE takes a text and a literal pattern"
        raise NotTranslatedError(message)
    if ignore_case:
        message = "ILIKE is not evaluated here"
        raise NotTranslatedError(message)
    wanted = Like(NO_COLUMN, _escaped(pattern.literal, escape))
    return boolean(lambda rows: match_like(value.values(rows), wanted))


def _escaped(pattern: str, escape: str) -> str:
    """Return a pattern whose escape character is the backslash."""
    parts = []
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            following = next(characters, "")
            if following not in {"%", "_", escape} or not following:
                message = f"the pattern {pattern!r} escapes what needs none"
                raise NotTranslatedError(message)
            parts.append(f"\\{following}")
        else:
            parts.append("\\\\" if character == "\\" else character)
    return "".join(parts)


# === Logic ===


def truth(node: BoundExpression) -> BoundExpression:
    """Return a node that is a condition; NULL is unknown."""
    if node.is_null:
        return boolean(lambda rows: pa.nulls(rows.num_rows, BOOLEAN))
    if node.kind != BOOLEAN:
        message = f"a condition is needed, not a value of type {node.kind}"
        raise NotTranslatedError(message)
    return node


def negated(node: BoundExpression) -> BoundExpression:
    """Return NOT."""
    part = truth(node)
    return boolean(lambda rows: pc.invert(part.values(rows)))


def all_of(parts: Sequence[BoundExpression]) -> BoundExpression:
    """Return AND, whose later parts see no row that an earlier one is false for."""
    conditions = [truth(part) for part in parts]

    def evaluate(rows: pa.RecordBatch) -> Values:
        found = conditions[0].values(rows)
        for part in conditions[1:]:
            open_rows = pc.fill_null(found, fill_value=True)
            more = where(rows, open_rows, part.values, BOOLEAN)
            found = pc.and_kleene(found, more)
        return found

    return boolean(evaluate)


def any_of(parts: Sequence[BoundExpression]) -> BoundExpression:
    """Return OR, whose later parts see no row that an earlier one is true for."""
    conditions = [truth(part) for part in parts]

    def evaluate(rows: pa.RecordBatch) -> Values:
        found = conditions[0].values(rows)
        for part in conditions[1:]:
            open_rows = pc.invert(pc.fill_null(found, fill_value=False))
            more = where(rows, open_rows, part.values, BOOLEAN)
            found = pc.or_kleene(found, more)
        return found

    return boolean(evaluate)
