"""What deletes and updates of rows show before they are done."""

import re
from typing import TYPE_CHECKING, Final

from deltaweb.delta.values.python_values import as_text
from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.table import DeltaTable
from deltaweb.web.tables.models.subjects import table_of
from deltaweb.web.tables.operations.foreseen import Foreseen, Occasion
from deltaweb.web.tables.storage.opening import roots_of_server, table_place

if TYPE_CHECKING:  # most processes ask for rows to be written, and write none
    from collections.abc import Callable

    import pyarrow as pa

    from deltaweb.storage.place import TablePlace
    from deltaweb.writer.rewrite.file_changes import Progress
    from deltaweb.writer.rewrite.plan import Rewrite, RewritePlan

MAX_PARTITIONS: Final = 50
MAX_COLUMNS: Final = 30
MAX_CELL_LENGTH: Final = 120
"""Characters of a cell; the rows of a preview are a sample to recognise them by."""
NO_FRACTION: Final = re.compile(r"\.0+(?=Z?$)")


def progress_of(occasion: Occasion, rewrite: "Rewrite") -> "Progress":
    """Return what tells a job how far a change of rows is."""
    job, unit = occasion.job, rewrite.engine.progress_unit
    return lambda done, total: job.progress(done, total=total, unit=unit)


def place_of_job(occasion: Occasion) -> "TablePlace":
    """Return the place of the table that a job is about.

    Raises:
        DeltaError: As `table_place` says.
    """
    return table_place(table_of(occasion.job), roots=roots_of_server())


def planned(occasion: Occasion) -> "Callable[[Rewrite], RewritePlan]":
    """Return what plans a change of rows, and tells a job how far that is."""

    def plan(rewrite: "Rewrite") -> "RewritePlan":
        occasion.job.step("Looking through the files")
        return rewrite.plan(progress_of(occasion, rewrite))

    return plan


def foresee_rows(plan: "RewritePlan") -> Foreseen:
    """Tell which rows and files a plan is about, and show some of the rows.

    The detail has the sample as text: `columns` names them, `before` and `after` hold
    a list a row, null where a value is; `after` is null where rows go.
    """
    outcome, snapshot = plan.outcome, plan.rewrite.snapshot
    partitions = plan.by_partition()
    columns = _columns(plan)
    after = None if plan.after is None else _cells(plan.after, columns)
    return Foreseen(
        version=snapshot.version,
        counts={
            "num_rows": outcome.num_rows,
            "num_files": outcome.removed.num_rows,
        },
        detail={
            "num_copied_rows": outcome.num_copied_rows,
            "num_whole_files": plan.files.gone.num_rows,
            "total_files": snapshot.num_files,
            "size_bytes": outcome.size_bytes,
            "is_partitioned": bool(snapshot.metadata.partition_columns),
            "num_partitions": partitions.num_rows,
            "partitions": partitions.slice(0, MAX_PARTITIONS).to_pylist(),
            "columns": columns,
            "num_hidden_columns": len(plan.before.column_names) - len(columns),
            "before": _cells(plan.before, columns),
            "after": after,
        },
        is_empty=not outcome.num_rows,
    )


def carry_out_rows(
    _opened: DeltaTable, plan: "RewritePlan", occasion: Occasion
) -> CommitResult:
    """Write and commit what was planned.

    Raises:
        DeltaError: As `RewritePlan.carry_out` lists them.
    """
    return plan.carry_out(
        on_progress=progress_of(occasion, plan.rewrite), user_name=occasion.user_name
    )


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


def _cells(rows: "pa.Table", columns: list[str]) -> list[list[str | None]]:
    texts = [
        [_shortened(text) for text in _texts(rows[name].combine_chunks())]
        for name in columns
    ]
    return [list(row) for row in zip(*texts, strict=True)]


def _texts(values: "pa.Array") -> list[str | None]:
    """Return values as text; a time of whole seconds ends with them."""
    texts: list[str | None] = as_text(values).to_pylist()
    if not str(values.type).startswith("timestamp"):
        return texts
    return [text and NO_FRACTION.sub("", text) for text in texts]


def _shortened(text: str | None) -> str | None:
    if text is None or len(text) <= MAX_CELL_LENGTH:
        return text
    return f"{text[:MAX_CELL_LENGTH]}…"
