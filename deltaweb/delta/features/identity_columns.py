"""Identity columns: the table numbers new rows, and no number is given twice.

Source: delta_protocol.md, "Identity Columns".
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from deltaweb.delta.errors import SchemaError
from deltaweb.delta.features.feature import Feature
from deltaweb.delta.protocol.actions import Metadata
from deltaweb.delta.protocol.schema import (
    PrimitiveType,
    StructField,
    StructType,
    format_schema,
    parse_schema,
)
from deltaweb.delta.protocol.schema.field_keys import (
    HIGH_WATER_MARK,
    IDENTITY,
    PHYSICAL_NAME,
    START,
    STEP,
    TAKES_VALUES,
)

IDENTITY_COLUMNS: Final = "identityColumns"
LEAST: Final = -(1 << 63)
MOST: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class IdentityColumn:
    """A column whose numbers are `start + k * step`, in the order of writes.

    Attributes:
        step: From one number to the next; below 0 they go down.
        mark: The last number that was given; None before the first.
    """

    name: str
    start: int
    step: int
    mark: int | None
    takes_values: bool

    @classmethod
    def of(cls, column: StructField) -> "IdentityColumn | None":
        """Return what a column's metadata says; None for a column of another kind."""
        said = column.metadata
        if not is_identity(said):
            return None
        start, step, mark = said.get(START), said.get(STEP), said.get(HIGH_WATER_MARK)
        takes_values = said.get(TAKES_VALUES, False)
        fault = ""
        if column.data_type != PrimitiveType("long"):
            fault = "an identity column is a bigint"
        elif step == 0:
            fault = "the step of an identity column is not 0"
        elif not isinstance(takes_values, bool):
            fault = "whether an identity column takes values is true or false"
        if fault:
            raise SchemaError(column=column.name, reason=fault)
        return cls(
            column.name,
            _as_long(column, "start", start),
            _as_long(column, "step", step),
            None if mark is None else _as_long(column, "high-water mark", mark),
            takes_values,
        )

    def first_after(self, mark: int | None) -> int:
        """Return the first number beyond a mark; it may be beyond bigint."""
        if mark is None:
            return self.start
        passed = (mark - self.start) // self.step + 1
        return self.start + max(0, passed) * self.step

    def mark_over(self, value: int) -> int | None:
        """Return the mark after which no number is given that a value has passed.

        None for a value that stands before the first number.
        """
        if value != self.start and not self.is_beyond(value, self.start):
            return None
        steps = -((self.start - value) // self.step)
        bound = MOST if self.step > 0 else LEAST
        return self.start + min(steps, (bound - self.start) // self.step) * self.step

    def is_beyond(self, value: int, mark: int | None) -> bool:
        if mark is None:
            return True
        return value > mark if self.step > 0 else value < mark


def is_identity(metadata: Mapping[str, Any]) -> bool:
    return any(key.startswith(IDENTITY) for key in metadata)


def identity_columns(schema: StructType) -> tuple[IdentityColumn, ...]:
    found = (IdentityColumn.of(column) for column in schema.fields)
    return tuple(column for column in found if column is not None)


def with_marks(metadata: Metadata, marks: Mapping[str, int]) -> Metadata:
    """Return metaData whose identity columns have given numbers up to marks."""
    if not marks:
        return metadata
    schema = parse_schema(metadata.schema_string or "")
    fields = tuple(
        replace(c, metadata={**c.metadata, HIGH_WATER_MARK: marks[c.name]})
        if c.name in marks
        else c
        for c in schema.fields
    )
    after = format_schema(replace(schema, fields=fields))
    return replace(metadata, schema_string=after)


def differ_by_marks_alone(one: Metadata, other: Metadata) -> bool:
    """Return whether all that differs is how far identity columns have counted."""
    if f'"{HIGH_WATER_MARK}' not in (other.schema_string or ""):
        return False
    if replace(one, schema_string="") != replace(other, schema_string=""):
        return False
    return _unmarked(one.schema_string) == _unmarked(other.schema_string)


def with_marks_kept(target: Metadata, now: Metadata) -> Metadata:
    """Return metaData of a version before that gives no number of now again."""
    if IDENTITY not in (target.schema_string or ""):
        return target
    counted = {
        (_stored_name(field), column.start, column.step): column.mark
        for field in parse_schema(now.schema_string or "").fields
        if (column := IdentityColumn.of(field)) is not None
    }
    marks = {}
    for field in parse_schema(target.schema_string or "").fields:
        column = IdentityColumn.of(field)
        if column is None:
            continue
        mark = counted.get((_stored_name(field), column.start, column.step))
        if mark is not None and column.is_beyond(mark, column.mark):
            marks[column.name] = mark
    return with_marks(target, marks)


def _stored_name(field: StructField) -> str:
    return str(field.metadata.get(PHYSICAL_NAME, field.name))


def _unmarked(text: str | None) -> StructType | None:
    if text is None:
        return None
    schema = parse_schema(text)
    fields = tuple(
        replace(
            c, metadata={k: v for k, v in c.metadata.items() if k != HIGH_WATER_MARK}
        )
        for c in schema.fields
    )
    return replace(schema, fields=fields)


def _as_long(column: StructField, part: str, value: object) -> int:
    if type(value) is int and LEAST <= value <= MOST:
        return value
    reason = f"the {part} of an identity column is a bigint"
    raise SchemaError(column=column.name, reason=reason)


def _is_unclear(metadata: Metadata) -> bool:
    """Return whether a schema speaks of identity in a way that cannot be kept."""
    text = metadata.schema_string or ""
    if f'"{IDENTITY}' not in text:
        return False
    try:
        schema = parse_schema(text)
        identity_columns(schema)
    except SchemaError:
        return True
    below = format_schema(
        StructType(tuple(replace(c, metadata={}) for c in schema.fields))
    )
    return f'"{IDENTITY}' in below


FEATURE: Final = Feature(IDENTITY_COLUMNS, asks_writers=_is_unclear)
