"""What a change of rows would do, as commands answer it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.index.history.sentences.commit_facts import counted
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.management.row_output import json_rows, row_lines
from deltaweb.writer.merge.outcome import MERGE, MergeOutlook
from deltaweb.writer.rewrite.plan import Rewrite, RewritePlan

VERBS: Final = {"change": "updated", "delete": "deleted", "add": "inserted"}


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


def agreed_rows(verb: WritingVerb, question: str) -> Callable[[Rewrite], CommitResult]:
    """Return what does a change of rows once somebody agrees to how many they are.

    What is done is what was counted: the files are looked through once, by the engine
    that writes them.

    Args:
        verb: Asks.
        question: Which rows, and what becomes of them; the numbers stand before it.
    """
    verb.check_somebody_there(question)

    def then(rewrite: Rewrite) -> CommitResult:
        if verb.is_agreed:
            return rewrite.commit()
        plan = rewrite.plan()
        if plan.outcome.num_rows:
            verb.ask(f"{plan_text(plan)} {question}")
        return plan.carry_out()

    return then


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


def foreseen_merge(name: str | None, location: str, outlook: MergeOutlook) -> Output:
    """Answer the dry run of a merge by what it counts."""
    data = {"name": name, "location": location, **_merge_counts(outlook)}
    return Output(data, merge_text(outlook))


def _merge_counts(outlook: MergeOutlook) -> Mapping[str, Any]:
    outcome, snapshot = outlook.outcome, outlook.snapshot
    counts = outcome.counts
    return {
        "version": snapshot.version,
        "operation": MERGE,
        "num_source_rows": counts["numSourceRows"],
        "num_updated_rows": counts["numTargetRowsUpdated"],
        "num_deleted_rows": counts["numTargetRowsDeleted"],
        "num_inserted_rows": counts["numTargetRowsInserted"],
        "num_copied_rows": counts["numTargetRowsCopied"],
        "num_files": outcome.changed.num_rows,
        "total_files": snapshot.num_files,
        "size_bytes": pc.sum(outcome.changed["size"]).as_py() or 0,
    }


def merge_text(outlook: MergeOutlook) -> str:
    """Say what a merge would do in one sentence."""
    told = _merge_counts(outlook)
    does = [
        f"{verb} {counted(told[f'num_{done}_rows'], 'row')}"
        for verb, done in VERBS.items()
        if told[f"num_{done}_rows"]
    ]
    if not does:
        return "No row is concerned: nothing would be written."
    copied = told["num_copied_rows"]
    others = f"; {counted(copied, 'other row')} would be written again" * bool(copied)
    where = (
        f" in {counted(told['num_files'], 'file')} of {told['total_files']:,} "
        f"({told['size_bytes']:,} bytes)" * bool(told["num_files"])
    )
    return f"Would {', '.join(does)}{where}{others}."


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
