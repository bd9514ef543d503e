"""Small files become large ones, or rows are laid out by columns."""

from dataclasses import dataclass
from typing import Final

import pyarrow.compute as pc

from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.table import DeltaTable
from deltaweb.web.tables.operations.foreseen import Foreseen, Occasion
from deltaweb.web.tables.operations.operation import Operation, register
from deltaweb.writer.files.respelling import (
    RespellPlan,
    carry_out_respell,
    plan_respell,
)
from deltaweb.writer.optimize import OptimizePlan, carry_out_optimize, plan_optimize

MAX_PARTITIONS_SHOWN: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimize:
    """What is laid out anew.

    Attributes:
        where: A condition on partition columns; "" for all.
        cluster_by: Columns whose values are to be close within files.
        target_bytes: About how large files are to be; None for what the table says.
        respell: Whether, in place of that, partition values are spelled in one way.
        time_zone: Whose clocks show the condition's times without a zone.
    """

    where: str = ""
    cluster_by: tuple[str, ...] = ()
    target_bytes: int | None = None
    respell: bool = False
    time_zone: str = UTC_ZONE


def plan(
    opened: DeltaTable, asked: Optimize, occasion: Occasion
) -> OptimizePlan | RespellPlan:
    """Find out which files are written anew.

    Files that came after the look stay as they are: what was shown is done.

    Raises:
        DeltaError: As `DeltaTable.optimize` lists them.
    """
    seen = occasion.seen
    is_again = occasion.job.attempt > 1
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


def foresee(plan: OptimizePlan | RespellPlan) -> Foreseen:
    """Tell how many files become how many, partition by partition."""
    if isinstance(plan, RespellPlan):
        return _foresee_texts(plan)
    partitions, removed = plan.partitions(), plan.removed
    return Foreseen(
        version=plan.snapshot.version,
        counts={
            "num_files": removed.num_rows,
            "num_bytes": pc.sum(removed["size"]).as_py() or 0,
        },
        detail={
            "num_after": sum(one.num_after for one in partitions),
            "num_considered": plan.num_considered,
            "table_files": plan.snapshot.num_files,
            "table_bytes": plan.snapshot.size_bytes,
            "target_bytes": plan.target_bytes,
            "cluster_by": list(plan.columns),
            "num_partitions": len(partitions),
            "partitions": [
                {
                    "values": dict(one.values),
                    "num_files": one.num_files,
                    "num_bytes": one.num_bytes,
                    "num_after": one.num_after,
                }
                for one in partitions[:MAX_PARTITIONS_SHOWN]
            ],
        },
        is_empty=not plan.bins,
    )


def _foresee_texts(plan: RespellPlan) -> Foreseen:
    """Tell of which files the log says the values otherwise, and how it says them."""
    return Foreseen(
        version=plan.snapshot.version,
        counts={"num_files": plan.files.num_rows},
        detail={
            "respell": True,
            "table_files": plan.snapshot.num_files,
            "columns": [one.sentence for one in plan.columns],
        },
        is_empty=not plan.files.num_rows,
    )


def carry_out(
    opened: DeltaTable, plan: OptimizePlan | RespellPlan, occasion: Occasion
) -> CommitResult:
    """Write the files anew and commit that.

    Raises:
        DeltaError: As `carry_out_optimize` lists them.
    """
    if isinstance(plan, RespellPlan):
        return carry_out_respell(opened.store, plan, user_name=occasion.user_name)
    return carry_out_optimize(
        opened.store,
        plan,
        user_name=occasion.user_name,
        on_progress=lambda done, total: occasion.job.progress(
            done, total=total, unit="files"
        ),
    )


OPTIMIZE: Final = register(
    Operation(
        name="optimize",
        words="Optimize a table",
        title="Optimize {table}",
        doing="Writing files anew",
        action="table.optimize",
        parameters=Optimize,
        plan=plan,
        foresee=foresee,
        carry_out=carry_out,
        page="tables:table-optimize",
    )
)
