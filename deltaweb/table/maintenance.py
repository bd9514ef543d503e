"""The verbs that write neither rows nor a definition: versions, files and the log."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from deltaweb import writer
from deltaweb.delta import writing
from deltaweb.delta.writing import operations
from deltaweb.table.opened import OpenedTable

if TYPE_CHECKING:
    from deltaweb.delta.writing.after_commit import CheckpointTime
    from deltaweb.delta.writing.checkpoint.builder import Progress, WrittenCheckpoint
    from deltaweb.delta.writing.log_cleanup import LogCleanup
    from deltaweb.delta.writing.operations.restore import RestorePlan
    from deltaweb.delta.writing.operations.undo import UndoPlan
    from deltaweb.delta.writing.operations.vacuum import VacuumPlan
    from deltaweb.delta.writing.transaction import CommitResult


class TableMaintenance(OpenedTable):
    """What keeps a table in order; `DeltaTable` has all of it."""

    # === Versions and files ===

    def plan_restore(
        self, version: int | None = None, timestamp: datetime | str | None = None
    ) -> "RestorePlan":
        """Return what `restore` would do; its `missing` names files that are gone.

        Raises:
            DeltaError: As `restore` does, but for the files.
        """
        now = self.snapshot()
        asked = None if timestamp is None else str(timestamp)
        target = self.snapshot(version, timestamp)
        return operations.restore.plan_restore(
            self._store, now, target, timestamp=asked
        )

    def restore(
        self,
        version: int | None = None,
        timestamp: datetime | str | None = None,
        *,
        checkpoint: "CheckpointTime | None" = None,
    ) -> "CommitResult":
        """Make a version of before the newest one, by its number or a time.

        Raises:
            RestoreFilesMissingError: If files of it are gone from storage.
            AppendOnlyError: If files would go, and the table only takes new rows.
            DeltaError: As `snapshot` and `commit` list them.
        """
        plan = self.plan_restore(version, timestamp)
        with writing.after_commit.checkpoints(checkpoint):
            return operations.restore.carry_out_restore(self._store, plan)

    def plan_undo(self, version: int) -> "UndoPlan":
        """Return what `undo` would do; its `refusal` says why it cannot be done.

        Raises:
            VersionNotFoundError: If the table has no such version.
            DeltaError: If the newest version cannot be read.
        """
        return operations.undo.plan_undo(self._store, version)

    def undo(
        self, version: int, *, checkpoint: "CheckpointTime | None" = None
    ) -> "CommitResult":
        """Undo the commit that made a version; later commits keep their effect.

        Raises:
            UndoRefusedError: If the table would not be as if the commit had never been
                made, or files that it removed are gone from storage.
            AppendOnlyError: If files would go, and the table only takes new rows.
            DeltaError: As `snapshot` and `commit` list them.
        """
        plan = self.plan_undo(version)
        with writing.after_commit.checkpoints(checkpoint):
            return writer.undo.carry_out_undo(self._store, plan)

    def vacuum(  # noqa: PLR0913  # what a caller may want of one
        self,
        retention_hours: float | None = None,
        *,
        dry_run: bool = True,
        allow_short_retention: bool = False,
        now: datetime | None = None,
        keep_from: int | None = None,
        record_in_history: bool = False,
        on_progress: Callable[[int, int], None] | None = None,
        checkpoint: "CheckpointTime | None" = None,
    ) -> "VacuumPlan":
        """Find the files that the table no longer needs; delete them when asked to.

        Args:
            retention_hours: How long what left the table is kept; by
                `delta.deletedFileRetentionDuration` for None.
            dry_run: Whether the files are only found.
            allow_short_retention: Whether it may be shorter than that property.
            now: The time to count back from, aware; this moment for None.
            keep_from: The oldest version that has to stay readable; any for None.
            record_in_history: Whether the table's history says so, in two commits.
            on_progress: Called with the files that are gone, and of how many; it may
                raise to stop the work.
            checkpoint: As in `append`.

        Raises:
            RetentionTooShortError: If the retention is shorter than the table's.
            DeltaError: As `deltaweb.delta.writing.operations.vacuum` lists them.
        """
        with writing.after_commit.checkpoints(checkpoint):
            return operations.vacuum.vacuum(
                self._store,
                now=now or datetime.now(UTC),
                retention_hours=retention_hours,
                is_dry_run=dry_run,
                allow_short_retention=allow_short_retention,
                keep_from=keep_from,
                record_in_history=record_in_history,
                on_progress=on_progress,
            )

    # === Maintenance of the log ===

    def create_checkpoint(  # noqa: PLR0913 (what a caller may want of one)
        self,
        version: int | None = None,
        *,
        parts: int | None = None,
        rows_per_part: int | None = None,
        now: datetime | None = None,
        on_progress: "Progress | None" = None,
        is_cancelled: Callable[[], bool] | None = None,
    ) -> "WrittenCheckpoint":
        """Write a checkpoint of a version that exists, and then `_last_checkpoint`.

        Args:
            version: The version; the newest for None.
            parts: Into how many files; a single one for None.
            rows_per_part: Or about how many actions a file is to hold.
            now: The time by which tombstones expire, aware; this moment for None.
            on_progress: Called with the file actions that were taken, and of about
                how many; it may raise to stop the work.
            is_cancelled: Asked between two pieces of work.

        Raises:
            DeltaError: As `build_checkpoint` lists them; the log is as it was then.
        """
        request = writing.checkpoint.builder.CheckpointRequest(
            version=version,
            parts=parts,
            rows_per_part=rows_per_part,
            now=now or datetime.now(UTC),
            on_progress=on_progress,
            is_cancelled=is_cancelled,
        )
        return writing.checkpoint.builder.build_checkpoint(self._store, request)

    def clean_up_log(
        self,
        *,
        now: datetime | None = None,
        is_dry_run: bool = False,
        keep_from: int | None = None,
        on_found: "Callable[[LogCleanup], None] | None" = None,
        on_progress: "Progress | None" = None,
    ) -> "LogCleanup":
        """Delete the history that `delta.logRetentionDuration` does not keep.

        The newest checkpoint at or before the cut stays, its commit, and all that is
        later; see `deltaweb.delta.writing.log_cleanup`.

        Args:
            now: The time to count back from, aware; this moment for None.
            is_dry_run: Whether the files are only listed.
            keep_from: The oldest version that has to stay readable; any for None.
            on_found: Called with what goes, before anything does; it may raise to
                keep it.
            on_progress: Called with the files that are gone, and of how many; it may
                raise to stop the work.

        Raises:
            DeltaError: As `log_cleanup.clean_up_log` lists them.
        """
        return writing.log_cleanup.clean_up_log(
            self._store,
            now=now or datetime.now(UTC),
            is_dry_run=is_dry_run,
            keep_from=keep_from,
            on_found=on_found,
            on_progress=on_progress,
        )
