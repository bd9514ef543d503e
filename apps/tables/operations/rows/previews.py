"""What deletes and updates of rows show before they are done."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from apps.tables.operations.preview import OperationPreview, RunContext
from deltaweb.delta.values.python_values import as_text
from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.table import DeltaTable
from deltaweb.words import counted, cut

if TYPE_CHECKING:  # most processes ask for rows to be written, and write none
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from deltaweb.writer.rewrite.plan import Rewrite, RewritePlan

LookedAt: TypeAlias = "tuple[Rewrite, RewritePlan | None]"
"""A change of rows, and what it would do where somebody is shown that.

Without it the files are left to the commit, which looks through each once.
"""
MAX_PARTITIONS: Final = 50
MAX_COLUMNS: Final = 30
MAX_CELL_LENGTH: Final = 120
"""Characters of a cell; the rows of a preview are a sample to recognise them by."""
NO_FRACTION: Final = re.compile(r"\.0+(?=Z?$)")

Cells: TypeAlias = tuple[tuple[str | None, ...], ...]
"""Rows of texts; None is null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcernedPartition:
    """The files of a partition that hold some of the rows, and how many they hold."""

    partition: str
    num_files: int
    size_bytes: int
    num_rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsDetail:
    """What else the preview of a change of rows shows.

    Attributes:
        num_copied_rows: Other rows of the files, which are written again.
        num_whole_files: Files that are removed without being read.
        total_files: All files of the table.
        size_bytes: Bytes of the files that hold the rows.
        partitions: The first of the partitions, most rows first.
        columns: The columns of the sample.
        before: Some of the rows, a text for each of the columns.
        after: The same rows afterwards; None where they are deleted.
    """

    num_copied_rows: int
    num_whole_files: int
    total_files: int
    size_bytes: int
    is_partitioned: bool
    num_partitions: int
    partitions: tuple[ConcernedPartition, ...]
    columns: tuple[str, ...]
    num_hidden_columns: int
    before: Cells
    after: Cells | None


def looked_at(context: RunContext) -> "Callable[[Rewrite], LookedAt]":
    """Return what looks through the files of a change, where somebody is shown it."""

    def look(rewrite: "Rewrite") -> LookedAt:
        if not context.is_shown:
            return rewrite, None
        context.job.step("Searching the files")
        tell = context.job.progress_of(rewrite.engine.progress_unit)
        return rewrite, rewrite.plan(tell)

    return look


def rows_meant(where: str) -> str:
    """Say which rows, in a question."""
    return f"the rows where {where}" if where else "every row"


def preview_looked_at(looked: LookedAt) -> OperationPreview[RowsDetail]:
    """Tell what `preview_rows` does, looking through the files if nobody has."""
    rewrite, found = looked
    return preview_rows(found or rewrite.plan())


def preview_rows(plan: "RewritePlan") -> OperationPreview[RowsDetail]:
    """Tell which rows and files a plan is about, and show some of the rows."""
    outcome, snapshot = plan.outcome, plan.rewrite.snapshot
    partitions = plan.by_partition()
    return OperationPreview(
        version=snapshot.version,
        counts={
            "num_rows": outcome.num_rows,
            "num_files": outcome.removed.num_rows,
        },
        detail=lambda: _detail(plan, partitions),
        is_empty=not outcome.num_rows,
        says=_says(plan),
        exact=lambda: {
            "operation": plan.rewrite.change.operation,
            "partitions": partitions.to_pylist(),
            "before": plan.before,
            "after": plan.after,
        },
        lines=lambda: _lines(plan),
    )


def _detail(plan: "RewritePlan", partitions: "pa.Table") -> RowsDetail:
    outcome, snapshot = plan.outcome, plan.rewrite.snapshot
    columns = _columns(plan)
    return RowsDetail(
        num_copied_rows=outcome.num_copied_rows,
        num_whole_files=plan.files.gone.num_rows,
        total_files=snapshot.num_files,
        size_bytes=outcome.size_bytes,
        is_partitioned=bool(snapshot.metadata.partition_columns),
        num_partitions=partitions.num_rows,
        partitions=tuple(
            ConcernedPartition(**one)
            for one in partitions.slice(0, MAX_PARTITIONS).to_pylist()
        ),
        columns=tuple(columns),
        num_hidden_columns=len(plan.before.column_names) - len(columns),
        before=_cells(plan.before, columns),
        after=None if plan.after is None else _cells(plan.after, columns),
    )


def carry_out_rows(
    _opened: DeltaTable, looked: LookedAt, context: RunContext
) -> CommitResult:
    """Write and commit what was planned."""
    rewrite, found = looked
    tell = context.job.progress_of(rewrite.engine.progress_unit)
    files = found.files if found else None
    return rewrite.commit(files, on_progress=tell, user_name=context.user_name)


def _says(plan: "RewritePlan") -> str:
    outcome = plan.outcome
    if not outcome.num_rows:
        return "No row is affected: nothing would be written."
    verb = "change" if plan.rewrite.change.opens_whole else "delete"
    copied = outcome.num_copied_rows
    others = f"; {counted(copied, 'other row')} would be written again" * bool(copied)
    return (
        f"Would {verb} {counted(outcome.num_rows, 'row')} in "
        f"{counted(outcome.removed.num_rows, 'file')} of "
        f"{plan.rewrite.snapshot.num_files:,} ({outcome.size_bytes:,} bytes){others}."
    )


def _lines(plan: "RewritePlan") -> "Iterator[str | pa.Table]":
    partitions = plan.by_partition()
    is_partitioned = plan.rewrite.snapshot.metadata.partition_columns
    for title, rows in (
        ("By partition:", partitions if is_partitioned else None),
        ("The first of them:", plan.before),
        ("They would be:", plan.after),
    ):
        if rows is not None and rows.num_rows:
            yield from ("", title, rows)


def _columns(plan: "RewritePlan") -> list[str]:
    """Return the columns that are shown: those that change, and the first of others."""
    names: list[str] = plan.before.column_names
    after = plan.after
    if len(names) <= MAX_COLUMNS:
        return names
    changed = [
        name
        for name in names
        if after is not None and not plan.before[name].equals(after[name])
    ]
    shown = {*changed[:MAX_COLUMNS], *names[: max(0, MAX_COLUMNS - len(changed))]}
    return [name for name in names if name in shown]


def _cells(rows: "pa.Table", columns: list[str]) -> Cells:
    texts = [
        [
            text and cut(text, MAX_CELL_LENGTH)
            for text in _texts(rows[name].combine_chunks())
        ]
        for name in columns
    ]
    return tuple(zip(*texts, strict=True))


def _texts(values: "pa.Array") -> list[str | None]:
    """Return values as text; a time of whole seconds ends with them."""
    texts: list[str | None] = as_text(values).to_pylist()
    if not str(values.type).startswith("timestamp"):
        return texts
    return [text and NO_FRACTION.sub("", text) for text in texts]
