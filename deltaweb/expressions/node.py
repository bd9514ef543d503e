"""An expression bound to rows of a schema."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.schema import short_type_text
from deltaweb.delta.protocol.schema.from_arrow import data_type_of_arrow
from deltaweb.expressions.bounds import SHORT_TEXT, check_made
from deltaweb.expressions.errors import REFUSED_EVERYWHERE

MAX_TYPE_LENGTH: Final = 80
DAY_TOO: Final = "Write its day, too: alone it would be of the day of reading."
_CLOCK: Final = re.compile(r"\s*T?[0-9]{1,2}:")
Values: TypeAlias = pa.Array
Evaluate: TypeAlias = Callable[[pa.RecordBatch], Values]


def type_name(kind: pa.DataType) -> str:
    """Return what SQL calls a type."""
    if pa.types.is_null(kind):
        return "void"
    return short_type_text(data_type_of_arrow(kind, ""), MAX_TYPE_LENGTH)


class NotTranslatedError(Exception):
    """What is written is not translated; the text says why."""


class BadLiteralError(NotTranslatedError):
    """A literal text is no value of the type that it is compared as.

    Attributes:
        hint: What to do about it: Spark takes a time of day for one of today.
    """

    def __init__(self, text: str, kind: pa.DataType) -> None:
        super().__init__(f"{text[:80]!r} is not a valid {type_name(kind)}")
        is_clock = pa.types.is_timestamp(kind) and kind.tz and _CLOCK.match(text)
        self.hint = DAY_TOO if is_clock else REFUSED_EVERYWHERE


class NoValueError(Exception):
    """A row has no value, as where it is divided by zero; the text says why."""


@dataclass(frozen=True, eq=False)
class BoundExpression:
    """A typed expression.

    Attributes:
        kind: The Arrow type of its values; null for NULL alone.
        literal: The value of a literal; None for all else, and for NULL.
        constant: The value that every row has, where that is known and not null.
    """

    kind: pa.DataType
    values: Evaluate
    literal: object = None
    constant: pa.Scalar | None = None

    @property
    def is_null(self) -> bool:
        """Whether it is NULL, of no type yet."""
        return bool(pa.types.is_null(self.kind))


def literal(value: object, kind: pa.DataType) -> BoundExpression:
    return constant(pa.scalar(value, kind), value)


def constant(scalar: pa.Scalar, value: object = None) -> BoundExpression:
    """Return a value that every row has, and that is not null."""
    is_text = pa.types.is_string(scalar.type) or pa.types.is_binary(scalar.type)
    num_bytes = scalar.as_buffer().size if is_text else 0

    def evaluate(rows: pa.RecordBatch) -> Values:
        if num_bytes > SHORT_TEXT:
            check_made("a literal", num_bytes * rows.num_rows, is_passing=True)
        return pa.repeat(scalar, rows.num_rows)

    return BoundExpression(scalar.type, evaluate, value, scalar)


NULL = BoundExpression(pa.null(), lambda rows: pa.nulls(rows.num_rows))


def typed(node: BoundExpression, kind: pa.DataType) -> BoundExpression:
    """Return NULL with a type, and all else as it is."""
    if not node.is_null:
        return node
    return BoundExpression(kind, lambda rows: pa.nulls(rows.num_rows, kind))


def where(
    rows: pa.RecordBatch, mask: pa.BooleanArray, evaluate: Evaluate, kind: pa.DataType
) -> Values:
    """Evaluate only for the rows of a mask; the others are null.

    Rows that an expression guards from an error never reach what would raise it.
    """
    mask = pc.fill_null(mask, fill_value=False)
    if mask.true_count == len(mask):
        return evaluate(rows)
    if not mask.true_count:
        return pa.nulls(len(mask), kind)
    found = evaluate(rows.filter(mask))
    places = pc.subtract(pc.cumulative_sum(mask.cast(pa.int64())), 1)
    return found.take(pc.if_else(mask, places, None))
