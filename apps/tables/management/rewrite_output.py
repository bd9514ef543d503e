"""What a delete or an update would do, as commands answer it."""

from collections.abc import Iterator

import pyarrow as pa

from apps.pages.command import Output
from apps.tables.management.row_output import json_rows, row_lines
from deltaweb.index.history.sentences.commit_facts import counted
from deltaweb.writer.rewrite.plan import RewritePlan


def planned_rows(name: str | None, location: str, plan: RewritePlan) -> Output:
    """Answer a dry run: what is concerned, by partition, and some of the rows."""
    snapshot, outcome = plan.rewrite.snapshot, plan.outcome
    data = {
        "name": name,
        "location": location,
        "version": snapshot.version,
        "operation": plan.rewrite.change.operation,
        "num_rows": outcome.num_rows,
        "num_copied_rows": outcome.num_copied_rows,
        "num_files": outcome.removed.num_rows,
        "total_files": snapshot.num_files,
        "size_bytes": outcome.size_bytes,
        "partitions": plan.by_partition().to_pylist(),
        "before": json_rows(plan.before),
        "after": None if plan.after is None else json_rows(plan.after),
    }
    return Output(data, plan_text(plan), _lines(plan))


def plan_text(plan: RewritePlan) -> str:
    """Say what would happen in one sentence."""
    outcome = plan.outcome
    if not outcome.num_rows:
        return "No row is concerned: nothing would be written."
    verb = "change" if plan.rewrite.change.opens_whole else "delete"
    copied = outcome.num_copied_rows
    others = f"; {counted(copied, 'other row')} would be written again" * bool(copied)
    return (
        f"Would {verb} {counted(outcome.num_rows, 'row')} in "
        f"{counted(outcome.removed.num_rows, 'file')} of "
        f"{plan.rewrite.snapshot.num_files:,} ({outcome.size_bytes:,} bytes){others}."
    )


def _lines(plan: RewritePlan) -> Iterator[str]:
    partitions = plan.by_partition()
    if partitions.num_rows and partitions["partition"][0].as_py():
        yield from _titled("By partition:", partitions)
    if plan.before.num_rows:
        yield from _titled("The first of them:", plan.before)
    if plan.after is not None and plan.after.num_rows:
        yield from _titled("They would be:", plan.after)


def _titled(title: str, rows: pa.Table) -> Iterator[str]:
    yield ""
    yield title
    yield from row_lines(rows)
