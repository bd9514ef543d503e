"""The verbs of a table that write rows: each is one call into the layer under it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from deltaweb import writer
from deltaweb.delta import writing
from deltaweb.table.opened import OpenedTable

if TYPE_CHECKING:
    from deltaweb.delta.writing.after_commit import CheckpointTime
    from deltaweb.delta.writing.transaction import CommitResult
    from deltaweb.writer.append import KnownDefinition
    from deltaweb.writer.merge.builder import MergeBuilder
    from deltaweb.writer.merge.clauses import MergeClause
    from deltaweb.writer.rewrite.file_changes import Progress
    from deltaweb.writer.rewrite.plan import RewritePlan


class TableWrites(OpenedTable):
    """What writes the rows of a table; `DeltaTable` has all of it."""

    _known: "KnownDefinition | None" = None

    def append(
        self,
        rows: Any,  # noqa: ANN401  # any Arrow stream
        *,
        merge_schema: bool = False,
        txn: tuple[str, int] | None = None,
        checkpoint: "CheckpointTime | None" = None,
    ) -> "CommitResult":
        """Add rows.

        Args:
            rows: A pyarrow Table, RecordBatch or RecordBatchReader, or anything with
                `__arrow_c_stream__`; a stream is read batch by batch.
            merge_schema: Whether columns that the table lacks are added to it.
            txn: An application and how far it comes with this; nothing is done where
                the table has that version of it already.
            checkpoint: When a checkpoint that is due is written, as `DeltaTable` says.

        Raises:
            SchemaMismatchError: If columns or values do not fit; names them all.
            ConstraintViolatedError: If a row breaks NOT NULL, CHECK or an invariant.
            ExpressionError: If a CHECK cannot be evaluated here.
            UnsupportedWriteError: If the table asks more than is done here.
            CommitConflictError: If another writer changed what this depends on.
            DeltaError: As `commit` lists them.
        """
        if self._known is None:
            self._known = writer.append.KnownDefinition(self._store)
        with writing.after_commit.checkpoints(checkpoint):
            return writer.append.append_rows(
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
        checkpoint: "CheckpointTime | None" = None,
    ) -> "CommitResult":
        """Write rows in the place of all others, or of some.

        Args:
            rows: As in `append`.
            where: Only rows that this SQL is true for go; every new row must satisfy
                it.
            overwrite_schema: Whether the table takes the schema of the rows.
            dynamic: Whether only those partitions go that new rows are in.
            checkpoint: As in `append`.

        Raises:
            DeltaError: As `append` lists them; `AppendOnlyError` where the table only
                takes new rows.
        """
        with writing.after_commit.checkpoints(checkpoint):
            return writer.overwrite.overwrite_rows(
                self._store,
                rows,
                where=where,
                overwrite_schema=overwrite_schema,
                dynamic=dynamic,
                time_zone=self.sql_zone,
            )

    def delete(
        self,
        where: str | None = None,
        *,
        on_progress: "Progress | None" = None,
        checkpoint: "CheckpointTime | None" = None,
    ) -> "CommitResult":
        """Remove the rows that a condition in SQL is true for; all for None.

        Args:
            where: The condition.
            on_progress: Told how many files were looked through, and of how many; it
                may raise to stop the work, and then nothing is left of it.
            checkpoint: As in `append`.

        Raises:
            ExpressionError: If the condition cannot be evaluated here.
            AppendOnlyError: If the table only takes new rows.
            DeltaError: As `append` lists them.
        """
        change = writer.rewrite.run.deletion(
            self._store, where, time_zone=self.sql_zone
        )
        with writing.after_commit.checkpoints(checkpoint):
            return change.commit(on_progress=on_progress)

    def plan_delete(
        self, where: str | None = None, *, on_progress: "Progress | None" = None
    ) -> "RewritePlan":
        """Return what `delete` would do; nothing is written.

        Raises:
            DeltaError: As `delete` does.
        """
        change = writer.rewrite.run.deletion(
            self._store, where, time_zone=self.sql_zone
        )
        return change.plan(on_progress)

    def update(
        self,
        assignments: Mapping[str, str],
        where: str | None = None,
        *,
        on_progress: "Progress | None" = None,
        checkpoint: "CheckpointTime | None" = None,
    ) -> "CommitResult":
        """Give columns the values of SQL expressions, in the rows of a condition.

        Args:
            assignments: The expression by the column's name; all see the old values.
            where: The condition in SQL; every row for None.
            on_progress: As in `delete`.
            checkpoint: As in `append`.

        Raises:
            ColumnNotFoundError: If a name is no column.
            ExpressionError: If an expression cannot be evaluated here.
            DeltaError: As `delete` lists them.
        """
        change = writer.rewrite.run.update(
            self._store, assignments, where, time_zone=self.sql_zone
        )
        with writing.after_commit.checkpoints(checkpoint):
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
        change = writer.rewrite.run.update(
            self._store, assignments, where, time_zone=self.sql_zone
        )
        return change.plan(on_progress)

    def merge(
        self,
        source: Any,  # noqa: ANN401  # as above
        *,
        on: str,
        checkpoint: "CheckpointTime | None" = None,
    ) -> "MergeBuilder":
        """Return a merge to say the clauses of, and to execute.

        Args:
            source: As `rows` of `append`; it is held in memory.
            on: SQL by which rows match: `t` is the table, `s` the source.
            checkpoint: As in `append`.

        Nothing is read or raised before `execute`.
        """

        def execute(clauses: "Sequence[MergeClause]") -> "CommitResult":
            with writing.after_commit.checkpoints(checkpoint):
                return writer.merge.merge.merge_rows(
                    self._store, source, on, clauses, time_zone=self.sql_zone
                )

        return writer.merge.builder.MergeBuilder(execute)

    def optimize(
        self,
        where: str | None = None,
        *,
        target_size_bytes: int | None = None,
        cluster_by: Sequence[str] = (),
        respell: bool = False,
        checkpoint: "CheckpointTime | None" = None,
    ) -> "CommitResult":
        """Pack small files into larger ones; the rows stay the same.

        Args:
            where: A condition on partition columns; all for None.
            target_size_bytes: About how large files are to be; None for
                `delta.targetFileSize`, or 128 MiB.
            cluster_by: Columns whose values are to be close together within files.
            respell: Whether, in place of all that, partition values that writers spell
                in several ways get one text, and times without a zone that of UTC.
                Only the log says them: no file is written.
            checkpoint: As in `append`.

        Raises:
            ValueError: If files are to be packed or clustered, and respelled.
            PredicateError: If the condition is about rows within files.
            ColumnNotFoundError: If a name is no column.
            DeltaError: As `append` lists them.
        """
        if respell:
            if target_size_bytes is not None or cluster_by:
                message = "choose compacting or clustering files, or respelling values"
                raise ValueError(message)
            found = writer.respelling.plan_respell(
                self._store, where, time_zone=self.sql_zone
            )
            with writing.after_commit.checkpoints(checkpoint):
                return writer.respelling.carry_out_respell(self._store, found)
        plan = writer.optimize.plan_optimize(
            self._store,
            where,
            target_bytes=target_size_bytes,
            cluster_by=cluster_by,
            time_zone=self.sql_zone,
        )
        with writing.after_commit.checkpoints(checkpoint):
            return writer.optimize.carry_out_optimize(self._store, plan)
