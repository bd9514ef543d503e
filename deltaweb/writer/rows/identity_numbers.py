"""The numbers that identity columns give to the new rows of one write.

The metaData of the same commit says how far they have counted, so of two writers that
count from one mark one gives way: no number is given twice.

Source: delta_protocol.md, "Identity Columns".
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.features.identity_columns import (
    IDENTITY_COLUMNS,
    LEAST,
    MOST,
    IdentityColumn,
    identity_columns,
    is_identity,
    with_marks,
)
from deltaweb.delta.features.registry import writer_features
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.writing.errors import IdentityColumnError

VALUES_GIVEN: Final = "the table numbers its rows, so they come without values for it"
VALUES_CHANGED: Final = "rows keep the numbers that they have"
NONE_LEFT: Final = "the next number is beyond those of bigint"


@dataclass(slots=True)
class IdentityNumbers:
    """How far the identity columns of a table have counted in a write.

    Attributes:
        columns: The columns by name; none where the table has no such feature.
        marks: The last numbers of those columns that have counted on.
    """

    columns: dict[str, IdentityColumn] = field(default_factory=dict)
    marks: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, protocol: Protocol, schema: StructType) -> Self:
        """Return the numbers of a write that begins."""
        if IDENTITY_COLUMNS not in writer_features(protocol):
            return cls()
        return cls({column.name: column for column in identity_columns(schema)})

    def check_given(self, names: Iterable[str]) -> None:
        """Refuse rows that come with values of their own where none are taken."""
        for name in names:
            column = self.columns.get(name)
            if column is not None and not column.takes_values:
                raise IdentityColumnError(column=name, reason=VALUES_GIVEN)

    def numbers(self, name: str, count: int) -> pa.Array:
        """Return the next numbers of a column."""
        column = self.columns[name]
        if not count:
            return pa.array([], pa.int64())
        first = column.first_after(self._mark(column))
        last = first + (count - 1) * column.step
        if not (LEAST <= first <= MOST and LEAST <= last <= MOST):
            raise IdentityColumnError(column=name, reason=NONE_LEFT)
        self.marks[name] = last
        # Products may overflow on their way; the sums do not, and wrap back.
        return pa.array(np.int64(first) + np.arange(count) * np.int64(column.step))

    def follow(self, name: str, values: pa.Array) -> None:
        """Count on from values that rows brought, so that none of them is given."""
        column = self.columns[name]
        found = (pc.max if column.step > 0 else pc.min)(values).as_py()
        if found is None or not column.is_beyond(found, self._mark(column)):
            return
        mark = column.mark_over(found)
        if mark is not None:
            self.marks[name] = mark

    def noted(self, metadata: Metadata) -> Metadata:
        """Return metaData that says how far the columns have counted."""
        return with_marks(metadata, self.marks)

    def _mark(self, column: IdentityColumn) -> int | None:
        return self.marks.get(column.name, column.mark)


def check_kept(schema: StructType, changed: Iterable[str]) -> None:
    names = {*changed}
    for column in schema.fields:
        if column.name in names and is_identity(column.metadata):
            raise IdentityColumnError(column=column.name, reason=VALUES_CHANGED)
