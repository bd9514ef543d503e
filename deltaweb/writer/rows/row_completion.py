"""What a table adds to rows by itself: defaults, numbers, and generated values.

A column that rows leave out takes its default, or what is generated of the others; a
null that is said stays one. What is generated is only worked out where it is exactly
what Spark would say, and all else is refused by the name of the function.

Source: delta_protocol.md, "Default Columns", "Identity Columns" and "Generated
Columns".
"""

import re
from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from deltaweb.delta.features.identity_columns import is_identity
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.delta.protocol.schema.field_keys import CHAR_TYPE, DEFAULT, GENERATION
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.delta.writing.requirements import RowConstraint
from deltaweb.expressions.condition import SQLAssignment
from deltaweb.writer.rows.identity_numbers import IdentityNumbers

_BOUNDED: Final = re.compile(r"(?:var)?char\(\s*([0-9]{1,9})\s*\)")


class RowCompletion:
    """Completes rows of a table's schema.

    Args:
        given: Names of the columns whose values are said; the others are what the
            table makes of them.
        takes_defaults: Whether columns that are not said take their defaults: those
            of new rows do, others keep what they have.
    """

    def __init__(
        self,
        schema: StructType,
        given: set[str],
        *,
        takes_defaults: bool,
        numbers: IdentityNumbers | None = None,
        time_zone: str = UTC_ZONE,
    ) -> None:
        self._schema = schema
        self._time_zone = time_zone
        self._numbers = numbers or IdentityNumbers()
        self._numbers.check_given(given)
        self._counted = {name: name in given for name in self._numbers.columns}
        self._values: list[tuple[str, SQLAssignment]] = []
        missing = [column for column in schema.fields if column.name not in given]
        if takes_defaults:
            self._add(missing, DEFAULT)
        # These may be made of defaults, so they come after.
        self._add(missing, GENERATION)

    def _add(self, columns: list[StructField], key: str) -> None:
        for column in columns:
            sql = column.metadata.get(key)
            if sql is not None:
                value = SQLAssignment(str(sql), column, self._schema, self._time_zone)
                self._values.append((column.name, value))

    @property
    def filled(self) -> set[str]:
        """Names of the columns that get values."""
        numbered = {name for name, is_given in self._counted.items() if not is_given}
        return {name for name, _ in self._values} | numbered

    def complete(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows with the values that the table gives them."""
        for name, is_given in self._counted.items():
            if is_given:
                self._numbers.follow(name, rows.column(name))
            else:
                numbers = self._numbers.numbers(name, rows.num_rows)
                rows = _with(rows, name, numbers)
        for name, value in self._values:
            rows = _with(rows, name, value.values(rows))
        return rows


def fills_itself(column: StructField) -> bool:
    """Return whether a column that is left out is no null in new rows."""
    said = column.metadata
    return DEFAULT in said or GENERATION in said or is_identity(said)


def _with(rows: pa.RecordBatch, name: str, values: pa.Array) -> pa.RecordBatch:
    place = rows.schema.get_field_index(name)
    columns = [*rows.columns]
    columns[place] = values
    return pa.RecordBatch.from_arrays(columns, schema=rows.schema)


def _bound(column: StructField) -> re.Match[str] | None:
    """Return the type of a text with a greatest length, however it is said."""
    data_type = column.data_type
    if not isinstance(data_type, PrimitiveType) or data_type.name != "string":
        return None
    said = column.metadata.get(CHAR_TYPE, data_type.spelling)
    return _BOUNDED.fullmatch(str(said).strip().lower())


def length_rules(schema: StructType) -> Iterator[RowConstraint]:
    """Yield what must be true of texts whose length is bounded.

    Shorter ones stay as they are, as the reference implementation writes them.
    """
    for column in schema.fields:
        found = _bound(column)
        if found is not None:
            name = "`{}`".format(column.name.replace("`", "``"))
            sql = f"{name} IS NULL OR length({name}) <= {int(found[1])}"
            yield RowConstraint(f"{found[0]} of {column.name}", sql)
