"""What a merge does with which rows, as it is asked for and bound to the schemas.

In SQL `t` is the table, `s` the source. Of several clauses about the same rows the
first one counts whose condition is true for a row.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltaweb.conditions.named import names_source_column
from deltaweb.delta.protocol.column_path import column_field
from deltaweb.delta.protocol.schema import StructField, StructType, arrow_schema
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.delta.writing.errors import SchemaMismatchError, SourceColumnsError
from deltaweb.expressions.condition import SQLCondition
from deltaweb.writer.rewrite.row_changes import nullable
from deltaweb.writer.rows.assigned_values import AssignedValue
from deltaweb.writer.rows.identity_numbers import IdentityNumbers, check_kept
from deltaweb.writer.rows.row_completion import RowCompletion, fills_itself

TABLE: Final = "t"
SOURCE: Final = "s"
NO_CLAUSE: Final = -1
NOT_IN_SOURCE: Final = (
    "is missing in the source, and all columns of the table are taken from it"
)

Places = npt.NDArray[np.int64]
"""Positions of rows."""
Choices = npt.NDArray[np.int16]
"""For each row the place of a clause, or `NO_CLAUSE`."""


class About(Enum):
    """The rows that a clause is about; its value names what its SQL may use."""

    MATCHED = (TABLE, SOURCE)
    NOT_MATCHED = (SOURCE,)
    NOT_MATCHED_BY_SOURCE = (TABLE,)


class MergeAction(Enum):
    """What becomes of a row, by the names of the log."""

    UPDATE = "update"
    DELETE = "delete"
    INSERT = "insert"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeClause:
    """One clause.

    Attributes:
        condition: SQL that must be true besides; None for all.
        assignments: SQL by the name of the column; None for every column of the
            table, from the column of its name in the source.
    """

    about: About
    action: MergeAction
    condition: str | None = None
    assignments: Mapping[str, str] | None = None

    @property
    def takes_all(self) -> bool:
        """Whether every column takes the value of the source's column of its name."""
        return self.assignments is None

    @property
    def deletes_all(self) -> bool:
        """Whether it deletes every row that it applies to, for any source."""
        return self.action is MergeAction.DELETE and self.condition is None

    @property
    def parameters(self) -> dict[str, str]:
        said = {"actionType": self.action.value}
        return said if self.condition is None else {"predicate": self.condition, **said}


def may_repeat(clauses: Sequence[MergeClause]) -> bool:
    """Return whether several rows of a source may match one row of the table.

    They may if all that matches is deleted. Otherwise it is not defined which counts.
    """
    matched = [clause for clause in clauses if clause.about is About.MATCHED]
    return len(matched) == 1 and matched[0].deletes_all


def pair_schema(
    table: StructType, source: StructType, names: Sequence[str] = (TABLE, SOURCE)
) -> StructType:
    """Return the schema of `bound_rows`: a struct for each side that is named."""
    sides = {TABLE: table, SOURCE: source}
    return StructType(tuple(StructField(name, sides[name]) for name in names))


def bound_rows(**sides: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows side by side, each side a struct of its name."""
    arrays = [
        pa.StructArray.from_arrays(rows.columns, names=rows.schema.names)
        for rows in sides.values()
    ]
    return pa.RecordBatch.from_arrays(arrays, names=[*sides])


def quoted(*path: str) -> str:
    """Return the SQL of a column."""
    return ".".join("`{}`".format(name.replace("`", "``")) for name in path)


def assigned(
    clause: MergeClause, table: StructType, source: StructType
) -> dict[str, str]:
    """Return the SQL of the columns that take values, by the table's spelling."""
    if clause.action is MergeAction.DELETE:
        return {}
    assignments = clause.assignments
    if assignments is None:
        given = [
            column.name
            for column in table.fields
            if source.find(column.name) is not None or not fills_itself(column)
        ]
        lost = [name for name in given if source.find(name) is None]
        if lost:
            raise SchemaMismatchError(misfits=dict.fromkeys(lost, NOT_IN_SOURCE))
        assignments = {name: quoted(SOURCE, name) for name in given}
    found = {
        column_field(table, (name,)).name: sql for name, sql in assignments.items()
    }
    if clause.action is MergeAction.UPDATE:
        check_kept(table, found)
    return found


def check_all_taken(
    on: str, clauses: Sequence[MergeClause], table: StructType, source: StructType
) -> None:
    """Refuse to lose columns of a source that every column is to be taken of.

    A column that the table lacks may help to say which rows match, or what becomes of
    them: then SQL names it.
    """
    if not any(
        clause.assignments is None and clause.action is not MergeAction.DELETE
        for clause in clauses
    ):
        return
    said = [
        on,
        *(clause.condition for clause in clauses if clause.condition),
        *(sql for clause in clauses for sql in (clause.assignments or {}).values()),
    ]
    lost = [
        name
        for name in source.names
        if table.find(name) is None
        and not any(names_source_column(sql, SOURCE, name) for sql in said)
    ]
    if lost:
        why = "is a column of the source that the table does not have"
        raise SourceColumnsError(misfits=dict.fromkeys(lost, why))


def completion_of(
    clause: MergeClause,
    table: StructType,
    given: Iterable[str],
    numbers: IdentityNumbers | None = None,
    time_zone: str = UTC_ZONE,
) -> RowCompletion:
    """Return what the table adds to rows that take values in some columns."""
    inserts = clause.action is MergeAction.INSERT
    whole = clause.action is MergeAction.DELETE
    names = set(table.names) if whole else set(given)
    return RowCompletion(
        table,
        names,
        takes_defaults=inserts,
        numbers=numbers if inserts else None,
        time_zone=time_zone,
    )


class BoundClause:
    """A clause over rows of a table and a source.

    Args:
        sides: What its SQL may use; None for what its rows have.
    """

    def __init__(  # noqa: PLR0913  # what a clause is bound to
        self,
        clause: MergeClause,
        table: StructType,
        source: StructType,
        numbers: IdentityNumbers,
        sides: Sequence[str] | None = None,
        *,
        time_zone: str = UTC_ZONE,
    ) -> None:
        self.clause = clause
        self.sides = clause.about.value if sides is None else sides
        self._table = arrow_schema(table)
        schema = pair_schema(table, source, self.sides)
        self._condition = None
        if clause.condition is not None:
            self._condition = SQLCondition(clause.condition, schema, time_zone)
        self._values: dict[str, AssignedValue] = {}
        columns = {column.name: column for column in table.fields}
        for name, sql in assigned(clause, table, source).items():
            self._values[name] = AssignedValue(
                sql, columns[name], schema, time_zone, may_lack=clause.takes_all
            )
        self._completion = completion_of(
            clause, table, self._values, numbers, time_zone
        )

    @property
    def deletes(self) -> bool:
        return self.clause.action is MergeAction.DELETE

    @property
    def is_conditional(self) -> bool:
        """Whether it is about some of its rows only."""
        return self._condition is not None

    def holds(self, rows: pa.RecordBatch) -> npt.NDArray[np.bool_]:
        """Return where its condition is true, for rows of `bound_rows`."""
        if self._condition is None:
            return np.ones(rows.num_rows, np.bool_)
        found = self._condition.holds(rows).to_numpy(zero_copy_only=False)
        return np.asarray(found, np.bool_)

    def rows(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return what the table gets for rows of `bound_rows`; still to be checked."""
        old: dict[str, pa.Array] = {}
        if self.clause.action is MergeAction.UPDATE:
            sides = rows.column(TABLE)
            old = dict(zip(self._table.names, sides.flatten(), strict=True))
        columns = [
            self._values[field.name].values(rows)
            if field.name in self._values
            else old.get(field.name, pa.nulls(rows.num_rows, field.type))
            for field in self._table
        ]
        written = pa.RecordBatch.from_arrays(columns, schema=nullable(self._table))
        return self._completion.complete(written)


def choose(clauses: Sequence[BoundClause], rows: pa.RecordBatch) -> Choices:
    """Return which clause counts for each row of `bound_rows`.

    A condition is evaluated for the rows alone that no clause before it has taken.
    """
    chosen = np.full(rows.num_rows, NO_CLAUSE, np.int16)
    for place, clause in enumerate(clauses):
        left = np.flatnonzero(chosen == NO_CLAUSE)
        if not len(left):
            break
        some = rows if len(left) == rows.num_rows else rows.take(pa.array(left))
        chosen[left[clause.holds(some)]] = place
    return chosen


@dataclass(frozen=True, slots=True, eq=False)
class BoundClauses:
    """The clauses of a merge, by the rows that they are about."""

    matched: Sequence[BoundClause]
    alone: Sequence[BoundClause]
    inserts: Sequence[BoundClause]

    @classmethod
    def of(cls, clauses: Sequence[BoundClause]) -> Self:
        parts = (
            [bound for bound in clauses if bound.clause.about is about]
            for about in (About.MATCHED, About.NOT_MATCHED_BY_SOURCE, About.NOT_MATCHED)
        )
        return cls(*parts)

    @property
    def changes(self) -> Sequence[BoundClause]:
        """Those of rows of the table; a row's choice is a place among them."""
        return (*self.matched, *self.alone)
