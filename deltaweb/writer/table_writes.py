"""The verbs of a table that write rows: each is one call into the layer under it.

What writes is imported by the method that needs it: a command that only reads starts
without.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from deltaweb.delta.log.store import TableStore
from deltaweb.delta.values.time_zones.known import UTC_ZONE

if TYPE_CHECKING:
    from deltaweb.delta.writing.transaction import CommitResult
    from deltaweb.writer.append import KnownDefinition
    from deltaweb.writer.merge.builder import MergeBuilder
    from deltaweb.writer.rewrite.file_changes import Progress
    from deltaweb.writer.rewrite.plan import RewritePlan


class TableWrites:
    """What writes the rows of a table; `DeltaTable` has all of it."""

    _store: TableStore
    _time_zone: str | None
    _known: "KnownDefinition | None" = None

    @property
    def sql_zone(self) -> str:
        """The zone of conditions and other SQL."""
        return self._time_zone or UTC_ZONE

    def append(
        self,
        rows: Any,  # noqa: ANN401  # any Arrow stream
        *,
        merge_schema: bool = False,
        txn: tuple[str, int] | None = None,
    ) -> "CommitResult":
        """Add rows.

        Args:
            rows: A pyarrow Table, RecordBatch or RecordBatchReader, or anything with
                `__arrow_c_stream__`; a stream is read batch by batch.
            merge_schema: Whether columns that the table lacks are added to it.
            txn: An application and how far it comes with this; nothing is done where
                the table has that version of it already.

        Raises:
            SchemaMismatchError: If columns or values do not fit; names them all.
            ConstraintViolatedError: If a row breaks NOT NULL, CHECK or an invariant.
            ExpressionError: If a CHECK cannot be evaluated here.
            UnsupportedWriteError: If the table asks more than is done here.
            CommitConflictError: If another writer changed what this depends on.
            DeltaError: As `commit` lists them.
        """
        from deltaweb.writer.append import KnownDefinition, append_rows

        if self._known is None:
            self._known = KnownDefinition(self._store)
        return append_rows(
            self._store,
            rows,
            merge_schema=merge_schema,
            txn=txn,
            known=self._known,
            time_zone=self.sql_zone,
        )

    def overwrite(
        self,
        rows: Any,  # noqa: ANN401  # as above
        *,
        where: str | None = None,
        overwrite_schema: bool = False,
        dynamic: bool = False,
    ) -> "CommitResult":
        """Write rows in the place of all others, or of some.

        Args:
            rows: As in `append`.
            where: Only rows that this SQL is true for go; every new row must satisfy
                it.
            overwrite_schema: Whether the table takes the schema of the rows.
            dynamic: Whether only those partitions go that new rows are in.

        Raises:
            DeltaError: As `append` lists them; `AppendOnlyError` where the table only
                takes new rows.
        """
        from deltaweb.writer.overwrite import overwrite_rows

        return overwrite_rows(
            self._store,
            rows,
            where=where,
            overwrite_schema=overwrite_schema,
            dynamic=dynamic,
            time_zone=self.sql_zone,
        )

    def delete(
        self, where: str | None = None, *, on_progress: "Progress | None" = None
    ) -> "CommitResult":
        """Remove the rows that a condition in SQL is true for; all for None.

        Args:
            where: The condition.
            on_progress: Told how many files were looked through, and of how many; it
                may raise to stop the work, and then nothing is left of it.

        Raises:
            ExpressionError: If the condition cannot be evaluated here.
            AppendOnlyError: If the table only takes new rows.
            DeltaError: As `append` lists them.
        """
        from deltaweb.writer.rewrite.run import deletion

        change = deletion(self._store, where, time_zone=self.sql_zone)
        return change.commit(on_progress=on_progress)

    def plan_delete(
        self, where: str | None = None, *, on_progress: "Progress | None" = None
    ) -> "RewritePlan":
        """Return what `delete` would do; nothing is written.

        Raises:
            DeltaError: As `delete` does.
        """
        from deltaweb.writer.rewrite.run import deletion

        change = deletion(self._store, where, time_zone=self.sql_zone)
        return change.plan(on_progress)

    def update(
        self,
        assignments: Mapping[str, str],
        where: str | None = None,
        *,
        on_progress: "Progress | None" = None,
    ) -> "CommitResult":
        """Give columns the values of SQL expressions, in the rows of a condition.

        Args:
            assignments: The expression by the column's name; all see the old values.
            where: The condition in SQL; every row for None.
            on_progress: As in `delete`.

        Raises:
            ColumnNotFoundError: If a name is no column.
            ExpressionError: If an expression cannot be evaluated here.
            DeltaError: As `delete` lists them.
        """
        from deltaweb.writer.rewrite.run import update

        change = update(self._store, assignments, where, time_zone=self.sql_zone)
        return change.commit(on_progress=on_progress)

    def plan_update(
        self,
        assignments: Mapping[str, str],
        where: str | None = None,
        *,
        on_progress: "Progress | None" = None,
    ) -> "RewritePlan":
        """Return what `update` would do; nothing is written.

        Raises:
            DeltaError: As `update` does.
        """
        from deltaweb.writer.rewrite.run import update

        change = update(self._store, assignments, where, time_zone=self.sql_zone)
        return change.plan(on_progress)

    def merge(
        self,
        source: Any,  # noqa: ANN401  # as above
        *,
        on: str,
    ) -> "MergeBuilder":
        """Return a merge to say the clauses of, and to execute.

        Args:
            source: As `rows` of `append`; it is held in memory.
            on: SQL by which rows match: `t` is the table, `s` the source.

        Nothing is read or raised before `execute`.
        """
        from deltaweb.writer.merge.builder import MergeBuilder
        from deltaweb.writer.merge.merge import merge_rows

        zone = self.sql_zone
        return MergeBuilder(
            partial(merge_rows, self._store, source, on, time_zone=zone)
        )

    def optimize(
        self,
        where: str | None = None,
        *,
        target_size_bytes: int | None = None,
        cluster_by: Sequence[str] = (),
    ) -> "CommitResult":
        """Pack small files into larger ones; the rows stay the same.

        Args:
            where: A condition on partition columns; all for None.
            target_size_bytes: About how large files are to be; None for
                `delta.targetFileSize`, or 128 MiB.
            cluster_by: Columns whose values are to be close together within files.

        Raises:
            PredicateError: If the condition is about rows within files.
            ColumnNotFoundError: If a name is no column.
            DeltaError: As `append` lists them.
        """
        from deltaweb.writer.optimize import carry_out_optimize, plan_optimize

        plan = plan_optimize(
            self._store,
            where,
            target_bytes=target_size_bytes,
            cluster_by=cluster_by,
            time_zone=self.sql_zone,
        )
        return carry_out_optimize(self._store, plan)
