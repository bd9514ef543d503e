"""What is asked of the tasks of a merge, as it travels to them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa

from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.expressions.condition import SQLCondition
from deltaweb.expressions.errors import ExpressionError
from deltaweb.expressions.session.dependence import Dependence
from deltaweb.spark.writing.change_tasks import ChangeRequest
from deltaweb.spark.writing.file_tasks import check_verdict
from deltaweb.spark.writing.session.conditions import FilledColumns
from deltaweb.writer.changes.change_writer import ChangeWriter
from deltaweb.writer.merge.clauses import (
    SOURCE,
    TABLE,
    About,
    BoundClause,
    BoundClauses,
    MergeAction,
    MergeClause,
    assigned,
    check_all_taken,
    pair_schema,
    quoted,
)
from deltaweb.writer.merge.file_merge import FileMerger
from deltaweb.writer.rewrite.dry_run import RowTally
from deltaweb.writer.rows.identity_numbers import IdentityNumbers
from deltaweb.writer.rows.row_checks import RowChecks, constraints_elsewhere

VALUE: Final = "value_"
HOLDS: Final = "holds_"
_BOOLEAN: Final = PrimitiveType("boolean")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MergeRequest(ChangeRequest):
    """A merge.

    Attributes:
        is_evaluated_here: Whether tasks evaluate new values as a process does; else
            Spark has, and rows come with them.
    """

    on: str
    clauses: tuple[MergeClause, ...]
    source: StructType
    is_evaluated_here: bool = True
    is_dry: bool = False

    def of(self, about: About) -> list[MergeClause]:
        return [clause for clause in self.clauses if clause.about is about]

    @property
    def changes(self) -> list[MergeClause]:
        """The clauses of rows of the table; a row's choice is a place among them."""
        return [*self.of(About.MATCHED), *self.of(About.NOT_MATCHED_BY_SOURCE)]

    @property
    def sent(self) -> StructType:
        """What comes with the rows that are concerned: of the source, or new values."""
        if self.is_evaluated_here:
            return self.source
        values = (
            StructField(f"{VALUE}{place}", column.data_type)
            for place, column in enumerate(self.schema.fields)
        )
        verdicts = (
            StructField(f"{HOLDS}{place}", _BOOLEAN)
            for place in range(len(self.elsewhere))
        )
        return StructType((*values, *verdicts))

    def bound(self) -> BoundClauses:
        """Return the clauses as tasks evaluate them."""
        if self.is_evaluated_here:
            clauses = [
                BoundClause(clause, self.schema, self.source, IdentityNumbers())
                for clause in self.clauses
            ]
        else:
            clauses = [*self._taken()]
        return BoundClauses.of(clauses)

    def _taken(self) -> Iterator[BoundClause]:
        """Yield clauses that take the values which Spark has evaluated."""
        schema = self.schema
        places = {name: place for place, name in enumerate(schema.names)}
        for clause in self.clauses:
            given = assigned(clause, schema, self.source)
            names = [*given, *self.filled(clause, are_all=True).names]
            values = {name: quoted(SOURCE, f"{VALUE}{places[name]}") for name in names}
            taken = replace(clause, condition=None, assignments=values)
            sides = (SOURCE,) if clause.about is About.NOT_MATCHED else (TABLE, SOURCE)
            yield BoundClause(taken, schema, self.sent, IdentityNumbers(), sides)

    def filled(self, clause: MergeClause, *, are_all: bool = False) -> FilledColumns:
        """Return the columns that Spark gives the rows of a clause; see there."""
        if clause.action is MergeAction.DELETE:
            return FilledColumns()
        return FilledColumns.of(
            self.schema,
            [*assigned(clause, self.schema, self.source)],
            self.settings,
            takes_defaults=clause.action is MergeAction.INSERT,
            are_all=are_all,
        )

    def depends(self, clause: MergeClause) -> bool:
        """Return whether what rows of a clause hold depends on the session."""
        if self.settings.are_ours:
            return False
        schema = pair_schema(self.schema, self.source, clause.about.value)
        dependence = Dependence(schema, self.settings)
        columns = {column.name: column for column in self.schema.fields}
        values = assigned(clause, self.schema, self.source)
        return bool(self.filled(clause).names) or any(
            dependence.of_value(sql, columns[name]) for name, sql in values.items()
        )

    def open_changes(self) -> ChangeWriter | RowTally:
        if self.is_dry:
            return RowTally(marks_rows=self.marks_rows)
        return self.open_writer()

    def open_merger(self, files: ChangeWriter | RowTally) -> FileMerger:
        checks = RowChecks(self.base.metadata, self.schema, (), self.elsewhere)

        def check(rows: pa.RecordBatch, beside: pa.RecordBatch | None) -> None:
            checks.check(rows)
            for place, rule in enumerate(self.elsewhere):
                if beside is not None:
                    check_verdict(rule, beside.column(f"{HOLDS}{place}"), rows)

        return FileMerger(self.bound(), files, check)


def settled(request: MergeRequest) -> MergeRequest:
    """Return the request with who evaluates it: tasks if they can, else Spark."""
    schema = request.schema
    check_all_taken(request.on, request.clauses, schema, request.source)
    for clause in request.clauses:
        assigned(clause, schema, request.source)
    try:
        SQLCondition(request.on, pair_schema(schema, request.source))
        request.bound()
        RowChecks(request.base.metadata, schema)
        is_here = True
    except ExpressionError:
        is_here = False
    settings = request.settings
    elsewhere = constraints_elsewhere(request.base.metadata, schema, settings=settings)
    if is_here and not elsewhere and not any(map(request.depends, request.clauses)):
        return request
    return replace(request, is_evaluated_here=False, elsewhere=elsewhere)
