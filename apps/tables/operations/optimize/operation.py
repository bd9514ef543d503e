"""Small files become large ones, or rows are laid out by columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow.compute as pc

from apps.pages.changes.parameters import (
    names_of,
    parameter,
    whole_number,
    zone_parameter,
)
from apps.pages.page_json import IfKnown, json_of
from apps.tables.operations.operation import Operation, commit_text, register
from apps.tables.operations.preview import OperationPreview, RunContext
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.table import DeltaTable
from deltaweb.words import counted
from deltaweb.writer.optimize import OptimizePlan, carry_out_optimize, plan_optimize
from deltaweb.writer.respelling import (
    RespellPlan,
    carry_out_respell,
    plan_respell,
)

MAX_PARTITIONS_SHOWN: Final = 50
NOTHING_SMALL: Final = "Nothing to do: no small files are in one partition."
ALL_ALIKE: Final = "Nothing to do: partition values are spelled in one way."


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimize:
    """What is laid out again.

    Attributes:
        where: A condition on partition columns; empty for all rows.
        cluster_by: Columns to cluster by.
        target_bytes: The approximate size of the new files; null for the table's
            setting.
        respell: Whether to normalise partition values instead.
        time_zone: The time zone of times without one in the condition.
    """

    where: str = parameter(
        "", "--where", metavar="SQL", help="a condition on partition columns"
    )
    cluster_by: tuple[str, ...] = parameter(
        (), "--cluster-by", type=names_of, metavar="a,b"
    )
    target_bytes: int | None = parameter(
        None, "--target-size", type=whole_number, metavar="BYTES"
    )
    respell: bool = parameter(
        default=False,
        option="--respell",
        action="store_true",
        help="instead, normalise partition values: one spelling per value in the log "
        "(times as UTC); no data file is written",
    )
    time_zone: str = zone_parameter(UTC_ZONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedPartition:
    """A partition whose files are rewritten.

    Attributes:
        values: Its values as texts; empty of a table without partitions.
        num_files: Files that are rewritten.
        num_bytes: Their size.
        num_after: About how many files they become.
    """

    values: Mapping[str, str | None]
    num_files: int
    num_bytes: int
    num_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizeDetail:
    """What else the preview shows: of files that are rewritten, or of values.

    Attributes:
        respell: Whether partition values are spelled in one way; None otherwise.
        num_after: About how many files there are afterwards.
        num_considered: Files of the partitions that were asked for.
        table_files: All files of the table.
        table_bytes: Their size.
        target_bytes: About how large files become.
        cluster_by: Columns by which rows are ordered.
        partitions: The first of the partitions.
        columns: A sentence for each column whose values are respelled.
    """

    respell: IfKnown[bool | None] = None
    num_after: IfKnown[int | None] = None
    num_considered: IfKnown[int | None] = None
    table_files: int
    table_bytes: IfKnown[int | None] = None
    target_bytes: IfKnown[int | None] = None
    cluster_by: IfKnown[tuple[str, ...] | None] = None
    num_partitions: IfKnown[int | None] = None
    partitions: IfKnown[tuple[PackedPartition, ...] | None] = None
    columns: IfKnown[tuple[str, ...] | None] = None


def plan(
    opened: DeltaTable, asked: Optimize, context: RunContext
) -> OptimizePlan | RespellPlan:
    """Find out which files are rewritten.

    Files that came after the preview stay as they are: what was shown is done.
    """
    seen = context.seen
    is_again = context.job.attempt > 1
    version = seen.version if seen and not is_again else None
    if asked.respell:
        return plan_respell(
            opened.store,
            asked.where or None,
            version=version,
            time_zone=asked.time_zone,
        )
    return plan_optimize(
        opened.store,
        asked.where or None,
        target_bytes=asked.target_bytes,
        cluster_by=asked.cluster_by,
        version=version,
        time_zone=asked.time_zone,
    )


def preview(plan: OptimizePlan | RespellPlan) -> OperationPreview[OptimizeDetail]:
    """Tell how many files become how many, partition by partition."""
    if isinstance(plan, RespellPlan):
        return _preview_texts(plan)
    partitions, removed = plan.partitions(), plan.removed
    num_bytes = pc.sum(removed["size"]).as_py() or 0
    num_after = sum(one.num_after for one in partitions)
    shown = tuple(
        PackedPartition(
            values=dict(one.values),
            num_files=one.num_files,
            num_bytes=one.num_bytes,
            num_after=one.num_after,
        )
        for one in partitions
    )
    says = (
        f"{counted(removed.num_rows, 'file')} ({num_bytes:,} bytes) in "
        f"{counted(len(partitions), 'partition')} would become about {num_after:,}."
    )
    return OperationPreview(
        version=plan.snapshot.version,
        counts={"num_files": removed.num_rows, "num_bytes": num_bytes},
        detail=lambda: OptimizeDetail(
            num_after=num_after,
            num_considered=plan.num_considered,
            table_files=plan.snapshot.num_files,
            table_bytes=plan.snapshot.size_bytes,
            target_bytes=plan.target_bytes,
            cluster_by=tuple(plan.columns),
            num_partitions=len(partitions),
            partitions=shown[:MAX_PARTITIONS_SHOWN],
        ),
        is_empty=not plan.bins,
        says=says if partitions else NOTHING_SMALL,
        exact=lambda: {"partitions": json_of(shown)},
    )


def _preview_texts(plan: RespellPlan) -> OperationPreview[OptimizeDetail]:
    """Tell of which files the log says the values otherwise, and how it says them."""
    number = plan.files.num_rows
    says = f"The values of {counted(number, 'file')} would be respelled."
    return OperationPreview(
        version=plan.snapshot.version,
        counts={"num_files": number},
        detail=lambda: OptimizeDetail(
            respell=True,
            table_files=plan.snapshot.num_files,
            columns=tuple(one.sentence for one in plan.columns),
        ),
        is_empty=not number,
        says=says if number else ALL_ALIKE,
        lines=lambda: (f"  {one.sentence}." for one in plan.columns if number),
        exact=lambda: {"columns": [one.describe() for one in plan.columns]},
    )


def carry_out(
    opened: DeltaTable, plan: OptimizePlan | RespellPlan, context: RunContext
) -> CommitResult:
    """Rewrite the files and commit that."""
    if isinstance(plan, RespellPlan):
        return carry_out_respell(opened.store, plan, user_name=context.user_name)
    return carry_out_optimize(
        opened.store,
        plan,
        user_name=context.user_name,
        on_progress=context.job.progress_of("files"),
    )


def result_text(result: CommitResult) -> str:
    """Say how the files changed, or the values in the log."""
    if result.attempts and not result.num_removed_files:
        count = counted(result.num_added_files, "file")
        return (
            f"Committed version {result.version}: the log spells the partition "
            f"values of {count} in one way; no row and no file changed."
        )
    return commit_text(result)


OPTIMIZE: Final = register(
    Operation(
        name="optimize",
        words="Optimize a table",
        title="Optimize {table}",
        doing="Rewriting files",
        action="table.optimize",
        parameters=Optimize,
        plan=plan,
        preview=preview,
        detail=OptimizeDetail,
        carry_out=carry_out,
        result=CommitResult,
        result_text=result_text,
        page="tables:table-optimize",
    )
)
