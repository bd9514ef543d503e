"""Small files become large ones, or rows are laid out by columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow.compute as pc

from apps.tables.operations.operation import Operation, commit_text, register
from apps.tables.operations.parameters import (
    names_of,
    parameter,
    whole_number,
    zone_parameter,
)
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
        where: A condition on partition columns; "" for all.
        cluster_by: Columns whose values are to be close within files.
        target_bytes: About how large files are to be; None for what the table says.
        respell: Whether, in place of that, partition values are spelled in one way.
        time_zone: Whose clocks show the condition's times without a zone.
    """

    where: str = parameter("", "--where", metavar="SQL", help="which partitions")
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
        help="instead, spell each partition value in one way, and times "
        "without a zone in UTC: only the log says them, no file is written",
    )
    time_zone: str = zone_parameter(UTC_ZONE)


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


def preview(plan: OptimizePlan | RespellPlan) -> OperationPreview:
    """Tell how many files become how many, partition by partition."""
    if isinstance(plan, RespellPlan):
        return _preview_texts(plan)
    partitions, removed = plan.partitions(), plan.removed
    num_bytes = pc.sum(removed["size"]).as_py() or 0
    num_after = sum(one.num_after for one in partitions)
    shown = [{**one._asdict(), "values": dict(one.values)} for one in partitions]
    says = (
        f"{counted(removed.num_rows, 'file')} ({num_bytes:,} bytes) in "
        f"{counted(len(partitions), 'partition')} would become about {num_after:,}."
    )
    return OperationPreview(
        version=plan.snapshot.version,
        counts={"num_files": removed.num_rows, "num_bytes": num_bytes},
        detail={
            "num_after": num_after,
            "num_considered": plan.num_considered,
            "table_files": plan.snapshot.num_files,
            "table_bytes": plan.snapshot.size_bytes,
            "target_bytes": plan.target_bytes,
            "cluster_by": list(plan.columns),
            "num_partitions": len(partitions),
            "partitions": shown[:MAX_PARTITIONS_SHOWN],
        },
        is_empty=not plan.bins,
        says=says if partitions else NOTHING_SMALL,
        exact=lambda: {"partitions": shown},
    )


def _preview_texts(plan: RespellPlan) -> OperationPreview:
    """Tell of which files the log says the values otherwise, and how it says them."""
    number = plan.files.num_rows
    says = f"The values of {counted(number, 'file')} would be respelled."
    return OperationPreview(
        version=plan.snapshot.version,
        counts={"num_files": number},
        detail={
            "respell": True,
            "table_files": plan.snapshot.num_files,
            "columns": [one.sentence for one in plan.columns],
        },
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


def result_text(result: Mapping[str, Any]) -> str:
    """Say what became of the files, or of what the log says of them."""
    if result["attempts"] and not result["num_removed_files"]:
        count = counted(result["num_added_files"], "file")
        return (
            f"Committed version {result['version']}: the log spells the partition "
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
        carry_out=carry_out,
        result_text=result_text,
        page="tables:table-optimize",
    )
)
