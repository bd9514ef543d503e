"""Rows of a file or of another table are merged into a table.

Where they come from is said by the operation, `catalogue.adding.work.merge`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from apps.pages.changes.parameters import parameter, zone_parameter
from apps.tables.errors import OperationOutdatedError
from apps.tables.operations.preview import OperationPreview, RunContext
from apps.tables.operations.rows.engines import with_fitting_engine
from deltaweb import spark
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.table import DeltaTable
from deltaweb.words import counted
from deltaweb.writer import merge

if TYPE_CHECKING:
    from collections.abc import Callable

    from apps.tables.index.spark_session import SparkSession
    from deltaweb.delta.protocol.schema import StructType
    from deltaweb.delta.snapshot import Snapshot
    from deltaweb.delta.writing.transaction import CommitResult
    from deltaweb.writer.merge.clauses import MergeClause
    from deltaweb.writer.merge.merge import MergePlan
    from deltaweb.writer.merge.outcome import MergeOutlook

T = TypeVar("T")

VERBS: Final = {"change": "updated", "delete": "deleted", "add": "inserted"}


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeAsked:
    """What becomes of which rows, wherever those of the source come from.

    Attributes:
        on: SQL by which rows match: `t` is the table, `s` the source.
        update_all: Whether rows that match take the values of the source.
        insert_all: Whether the other rows of the source are added.
        delete_where: SQL of the matching rows that are deleted instead; None
            where none are.
        time_zone: Whose clocks show the times without a zone in all SQL.
    """

    on: str = parameter(
        "",
        "--on",
        required=True,
        metavar="SQL",
        help="condition for matching rows: t is the table, s the source",
    )
    update_all: bool = parameter(
        default=False,
        option="--update-all",
        action="store_true",
        help="update matching rows with the values of the source",
    )
    insert_all: bool = parameter(
        default=False,
        option="--insert-all",
        action="store_true",
        help="insert the other rows of the source",
    )
    delete_where: str | None = parameter(
        None,
        "--delete-where",
        metavar="SQL",
        help="delete matching rows that meet this condition instead",
    )
    time_zone: str = zone_parameter(UTC_ZONE, of="SQL and files (UTC without)")

    def rows(self, schema: "StructType") -> pa.RecordBatchReader:
        """Read the rows of the source, from their beginning each time.

        Args:
            schema: Of the table: columns of a file without a value have its types.
        """
        raise NotImplementedError

    @property
    def clauses(self) -> "Sequence[MergeClause]":
        """What is done with which rows, in this order."""
        about, action = merge.clauses.About, merge.clauses.MergeAction
        found = [
            merge.clauses.MergeClause(about=rows, action=done, condition=condition)
            for is_asked, rows, done, condition in (
                (self.delete_where, about.MATCHED, action.DELETE, self.delete_where),
                (self.update_all, about.MATCHED, action.UPDATE, None),
                (self.insert_all, about.NOT_MATCHED, action.INSERT, None),
            )
            if is_asked
        ]
        return tuple(found)


def rows_of_table(source: DeltaTable) -> pa.RecordBatchReader:
    """Read the rows of the newest version of a table."""
    scan = source.snapshot().scan()
    return pa.RecordBatchReader.from_batches(scan.schema, scan)


class _Merge(Protocol):
    """A merge of either engine."""

    def preview(self) -> "MergeOutlook": ...

    def commit(self, *, user_name: str | None) -> "CommitResult": ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlannedMerge:
    """A merge into a version of a table.

    Attributes:
        source: The rows of the source: they are read once, and held in memory.
        outlook: What it would do, where somebody is shown that.
    """

    asked: MergeAsked
    snapshot: "Snapshot"
    source: pa.Table
    outlook: "MergeOutlook | None" = None


def plan_merge(
    opened: DeltaTable, asked: MergeAsked, context: RunContext
) -> PlannedMerge:
    """Find out what a merge would do, where somebody is shown that."""
    snapshot = merge.merge.read_for_merge(opened.store, asked.clauses)
    source = asked.rows(snapshot.schema).read_all()
    planned = PlannedMerge(asked=asked, snapshot=snapshot, source=source)
    if not context.is_shown:
        return planned
    outlook = _with_merge(opened, planned, context, lambda found: found.preview())
    return replace(planned, outlook=outlook)


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeDetail:
    """What else the preview of a merge shows.

    Attributes:
        num_source_rows: Rows of the source.
        num_copied_rows: Rows of the table that are written again as they are.
        total_files: All files of the table.
        size_bytes: Bytes of the files that change.
    """

    operation: str = "MERGE"
    num_source_rows: int
    num_copied_rows: int
    total_files: int
    size_bytes: int


def preview_merge(plan: PlannedMerge) -> OperationPreview[MergeDetail]:
    """Tell how many rows change, go and come."""
    outlook = plan.outlook
    if outlook is None:
        message = "a merge that is not shown has no preview"
        raise ValueError(message)
    outcome, snapshot = outlook.outcome, outlook.snapshot
    counts = {
        "num_updated_rows": outcome.counts["numTargetRowsUpdated"],
        "num_deleted_rows": outcome.counts["numTargetRowsDeleted"],
        "num_inserted_rows": outcome.counts["numTargetRowsInserted"],
        "num_files": outcome.changed.num_rows,
    }
    detail = MergeDetail(
        num_source_rows=outcome.counts["numSourceRows"],
        num_copied_rows=outcome.counts["numTargetRowsCopied"],
        total_files=snapshot.num_files,
        size_bytes=pc.sum(outcome.changed["size"]).as_py() or 0,
    )
    return OperationPreview(
        version=snapshot.version,
        counts=counts,
        detail=lambda: detail,
        is_empty=not any(counts[f"num_{done}_rows"] for done in VERBS.values()),
        says=_says(counts, detail),
    )


def carry_out_merge(
    opened: DeltaTable, plan: PlannedMerge, context: RunContext
) -> "CommitResult":
    """Merge, and commit that; a preview that was agreed to is of one version.

    Without a preview the commit decides whether a newer version is in its way.
    """
    is_agreed = context.seen is not None and context.seen.job != ""
    if is_agreed and opened.latest_version() != plan.snapshot.version:
        raise OperationOutdatedError(name=opened.root)
    return _with_merge(
        opened, plan, context, lambda found: found.commit(user_name=context.user_name)
    )


def _with_merge(
    opened: DeltaTable,
    plan: PlannedMerge,
    context: RunContext,
    then: "Callable[[_Merge], T]",
) -> T:
    asked, snapshot = plan.asked, plan.snapshot
    zone = asked.time_zone

    def here() -> "MergePlan":
        return merge.merge.plan_merge(
            opened.store, plan.source, asked.on, asked.clauses, snapshot, time_zone=zone
        )

    def on_spark(session: "SparkSession", _here: "MergePlan | None") -> _Merge:
        return spark.writing.merge.run.MergeOnSpark(
            spark=session,
            place=context.place(),
            source=spark.writing.merge.run.frame_of(session, plan.source),
            on=asked.on,
            clauses=asked.clauses,
            snapshot=snapshot,
        )

    return with_fitting_engine(here, on_spark, then, context, time_zone=zone)


def _says(counts: Mapping[str, int], detail: MergeDetail) -> str:
    does = [
        f"{verb} {counted(counts[f'num_{done}_rows'], 'row')}"
        for verb, done in VERBS.items()
        if counts[f"num_{done}_rows"]
    ]
    if not does:
        return "No row is affected: nothing would be written."
    copied = detail.num_copied_rows
    others = f"; {counted(copied, 'other row')} would be written again" * bool(copied)
    where = (
        f" in {counted(counts['num_files'], 'file')} of {detail.total_files:,} "
        f"({detail.size_bytes:,} bytes)" * bool(counts["num_files"])
    )
    return f"Would {', '.join(does)}{where}{others}."


def question(asked: MergeAsked, opened: DeltaTable) -> str:
    """Return what somebody is asked; nothing where rows only come."""
    changes = asked.update_all or asked.delete_where
    return f"Change the rows of {opened.root} where {asked.on}?" if changes else ""
