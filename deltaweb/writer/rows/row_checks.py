"""What must be true of every row that is written: NOT NULL, CHECK and invariants.

A condition that is false, or unknown, for a row aborts the whole write.

Source: delta_protocol.md, "Column Invariants" and "Writer Version Requirements".
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.actions import Metadata
from deltaweb.delta.protocol.schema import (
    ArrayType,
    MapType,
    StructField,
    StructType,
    parts_of,
)
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.values.python_values import python_values
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.delta.values.whole import as_lists
from deltaweb.delta.writing.errors import MAX_ROWS_SHOWN, ConstraintViolatedError
from deltaweb.delta.writing.requirements import (
    CheckedRows,
    RowConstraint,
    row_constraints,
)
from deltaweb.expressions import session
from deltaweb.expressions.condition import SQLCondition
from deltaweb.expressions.errors import ExpressionError
from deltaweb.expressions.session.settings import OURS, SessionSettings
from deltaweb.writer.rows.row_completion import length_rules

NOT_NULL: Final = "NOT NULL"
_Rows = npt.NDArray[np.int64]


class RowChecks:
    """Checks the rows of one write.

    Args:
        more: Further conditions of this write alone.
        elsewhere: Conditions that another engine evaluates for these rows.
    """

    def __init__(
        self,
        metadata: Metadata,
        schema: StructType,
        more: Sequence[RowConstraint] = (),
        elsewhere: Collection[RowConstraint] = (),
        time_zone: str = UTC_ZONE,
    ) -> None:
        self._columns = [column for column in schema.fields if _is_required(column)]
        self._conditions = [
            (constraint, SQLCondition(constraint.sql, schema, time_zone))
            for constraint in (
                *row_constraints(metadata),
                *length_rules(schema),
                *more,
            )
            if constraint not in elsewhere
        ]

    @property
    def is_empty(self) -> bool:
        """Whether every row is right."""
        return not self._columns and not self._conditions

    def check(self, rows: pa.RecordBatch) -> None:
        """Refuse rows that break a rule."""
        for constraint, bad in self.broken(rows):
            raise violation(constraint, rows, bad)

    def broken(
        self, rows: pa.RecordBatch
    ) -> Iterator[tuple[RowConstraint, pa.BooleanArray]]:
        """Yield each rule that some rows break, and which rows these are."""
        for column in self._columns:
            values = rows.column(column.name)
            places = np.arange(rows.num_rows)
            for name, broken in _nulls(values, column, column.name, places):
                bad = np.zeros(rows.num_rows, np.bool_)
                bad[broken] = True
                rule = RowConstraint(f"{NOT_NULL} {name}", f"{name} IS NOT NULL")
                yield rule, pa.array(bad)
        for constraint, condition in self._conditions:
            fits = condition.holds(rows)
            if fits.true_count < rows.num_rows:
                yield constraint, pc.invert(fits)


def look_at_rows(
    snapshot: Snapshot,
    constraint: RowConstraint,
    on_progress: Callable[[int, int | None], None] | None = None,
    time_zone: str = UTC_ZONE,
) -> CheckedRows:
    """Evaluate a constraint for every row of a version.

    It is evaluated as it will be for the rows that are written; one batch of rows is
    in memory at a time.

    Args:
        on_progress: Told how many rows are done, and of how many if the log says so;
            it may raise to stop the work.
    """
    condition = SQLCondition(constraint.sql, snapshot.schema, time_zone)
    num_rows = num_violating = 0
    shown: list[Mapping[str, object]] = []
    total = pc.sum(snapshot.statistics([])["num_records"], skip_nulls=False).as_py()
    for rows in snapshot.scan():
        fits = condition.holds(rows)
        bad = rows.num_rows - fits.true_count
        num_rows += rows.num_rows
        num_violating += bad
        if bad and len(shown) < MAX_ROWS_SHOWN:
            violating = rows.filter(pc.invert(fits))
            shown += _rows(violating.slice(0, MAX_ROWS_SHOWN - len(shown)))
        if on_progress is not None:
            on_progress(num_rows, total)
    return CheckedRows(
        constraint=constraint,
        num_rows=num_rows,
        num_violating=num_violating,
        rows=tuple(shown),
    )


def _is_required(part: StructField) -> bool:
    """Return whether values of a column, or parts of them, may not be null."""
    return not part.nullable or any(map(_is_required, _parts(part)))


def _parts(part: StructField) -> Sequence[StructField]:
    """Return the parts of values that may be null where they may not."""
    parts = parts_of(part.data_type)
    if isinstance(part.data_type, MapType):  # Arrow has no map with a null key
        return replace(parts[0], nullable=True), parts[1]
    return parts


def _nulls(
    values: pa.Array, part: StructField, path: str, rows: _Rows
) -> Iterator[tuple[str, _Rows]]:
    """Yield each part that is null where it may not be, with the rows that have it.

    Args:
        path: Of the part, as `tags.element` or `prices.value.amount`.
        rows: The row of each value.
    """
    is_there = np.asarray(values.is_valid())
    if values.null_count and not part.nullable:
        yield path, rows[~is_there]
    parts = _parts(part)
    if not any(map(_is_required, parts)):
        return
    if values.null_count:
        values, rows = values.filter(pa.array(is_there)), rows[is_there]
    values = as_lists(values)
    if pa.types.is_list(values.type):
        rows = np.repeat(rows, np.asarray(pc.list_value_length(values)))
        values = values.flatten()
    inside = [values] if isinstance(part.data_type, ArrayType) else values.flatten()
    for one, array in zip(parts, inside, strict=True):
        if _is_required(one):
            yield from _nulls(array, one, f"{path}.{one.name}", rows)


def constraints_elsewhere(
    metadata: Metadata,
    schema: StructType,
    more: Sequence[RowConstraint] = (),
    settings: SessionSettings = OURS,
) -> tuple[RowConstraint, ...]:
    """Return the conditions that are not evaluated here as a session would."""
    found = []
    dependence = session.dependence.Dependence(schema, settings)
    for constraint in (*row_constraints(metadata), *more):
        try:
            SQLCondition(constraint.sql, schema)
        except ExpressionError:
            found.append(constraint)
        else:
            if dependence.of(constraint.sql):
                found.append(constraint)
    return tuple(found)


def violation(
    constraint: RowConstraint, rows: pa.RecordBatch, bad: pa.BooleanArray
) -> ConstraintViolatedError:
    """Return the error of rows that break a rule; it shows up to five of them."""
    return ConstraintViolatedError(
        name=constraint.name,
        expression=constraint.sql,
        rows=_rows(rows.filter(bad).slice(0, MAX_ROWS_SHOWN)),
        is_check=constraint.is_check,
    )


def _rows(some: pa.RecordBatch) -> list[Mapping[str, object]]:
    columns = {
        name: python_values(column)
        for name, column in zip(some.schema.names, some.columns, strict=True)
    }
    return [
        {name: values[row] for name, values in columns.items()}
        for row in range(some.num_rows)
    ]
