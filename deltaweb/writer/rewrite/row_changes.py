"""What becomes of the rows that a condition is true for: they go, or change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.actions import Metadata
from deltaweb.delta.protocol.column_path import column_field
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.values.data_values import relabelled
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.writer.rows.assigned_values import AssignedValue
from deltaweb.writer.rows.identity_numbers import check_kept
from deltaweb.writer.rows.row_checks import RowChecks
from deltaweb.writer.rows.row_completion import RowCompletion


@dataclass(frozen=True, slots=True, eq=False)
class ChangedRows:
    """Rows of a file after a change.

    Attributes:
        changed: Those that are concerned, as they are now; None where they are gone.
    """

    written: pa.RecordBatch | pa.Table
    changed: pa.RecordBatch | None = None


class ChangeKind(Protocol):
    """What a change of rows is.

    Attributes:
        operation: What it is called in the log.
        count_metric: What the log calls the number of rows.
        opens_whole: Whether files are opened of which every row is concerned.
    """

    operation: ClassVar[str]
    count_metric: ClassVar[str]
    opens_whole: ClassVar[bool]


class RowChange(ChangeKind, Protocol):
    """What becomes of rows, evaluated in process."""

    def apply(self, rows: pa.RecordBatch, holds: pa.BooleanArray) -> ChangedRows:
        """Change the rows where a mask is true.

        Raises:
            ExpressionValueError: If a new value cannot be calculated.
            ConstraintViolatedError: If a new row breaks a rule of the table.
        """


class RowDeletion:
    """The rows go."""

    operation: ClassVar[str] = "DELETE"
    count_metric: ClassVar[str] = "numDeletedRows"
    opens_whole: ClassVar[bool] = False

    def apply(self, rows: pa.RecordBatch, holds: pa.BooleanArray) -> ChangedRows:
        return ChangedRows(rows.filter(pc.invert(holds)))


class UpdateKind:
    """Columns take new values, whoever calculates these."""

    operation: ClassVar[str] = "UPDATE"
    count_metric: ClassVar[str] = "numUpdatedRows"
    opens_whole: ClassVar[bool] = True


class RowUpdate(UpdateKind):
    """Columns take new values; rows with them keep the rules of the table.

    Args:
        time_zone: The zone of the expressions, and of the rules.
    """

    def __init__(
        self,
        assignments: Mapping[str, str],
        schema: StructType,
        metadata: Metadata,
        time_zone: str = UTC_ZONE,
    ) -> None:
        self._values: dict[str, AssignedValue] = {}
        for name, sql in assignments.items():
            column = column_field(schema, (name,))
            value = AssignedValue(sql, column, schema, time_zone)
            self._values[column.name] = value
        check_kept(schema, self._values)
        self._checks = RowChecks(metadata, schema, time_zone=time_zone)
        given = set(self._values)
        self._completion = RowCompletion(
            schema, given, takes_defaults=False, time_zone=time_zone
        )

    def apply(self, rows: pa.RecordBatch, holds: pa.BooleanArray) -> ChangedRows:
        """Put changed rows in the places of those that were."""
        changed = self._new_values(rows.filter(holds))
        self._checks.check(changed)
        return ChangedRows(put_back(rows, holds, changed), changed)

    def _new_values(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows with their new values, all calculated from the old ones."""
        columns = [
            self._values[name].values(rows) if name in self._values else column
            for name, column in zip(rows.schema.names, rows.columns, strict=True)
        ]
        changed = pa.RecordBatch.from_arrays(columns, schema=nullable(rows.schema))
        return self._completion.complete(changed)


def nullable(schema: pa.Schema) -> pa.Schema:
    """Return the schema of rows that are still to be checked for nulls."""
    return pa.schema([field.with_nullable(True) for field in schema])  # noqa: FBT003  # pyarrow's own


def put_back(
    rows: pa.RecordBatch, holds: pa.BooleanArray, changed: pa.RecordBatch
) -> pa.Table:
    """Return all rows in their order, those that a mask has replaced."""
    if changed.num_rows == rows.num_rows:
        return pa.Table.from_batches([changed])
    others = rows.filter(pc.invert(holds))
    both = pa.concat_tables(
        [
            pa.Table.from_batches([changed]),
            pa.Table.from_batches([relabelled(others, changed.schema)]),
        ]
    )
    taken = pc.cumulative_sum(holds.cast(pa.int64()))
    passed = pc.cumulative_sum(pc.invert(holds).cast(pa.int64()))
    places = pc.if_else(holds, taken, pc.add(passed, changed.num_rows))
    return both.combine_chunks().take(pc.subtract(places, 1))
