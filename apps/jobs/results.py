"""What jobs leave as files below the home folder: rows, as Arrow, for a page to map."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from django.conf import settings

from apps.jobs.models import Job

if TYPE_CHECKING:  # commands that open no table have no need of Arrow
    from collections.abc import Iterable

    import pyarrow as pa

    from apps.jobs.kind import JobKind

RESULTS_FOLDER: Final = "results"
ROWS: Final = ".arrow"

R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRows(Generic[R]):
    """What a job found: Arrow rows, mapped and not copied, and its result."""

    rows: pa.Table
    facts: R


def result_path(job_id: object, suffix: str = ".arrow") -> Path:
    """Where a job leaves a file of its result; nothing may be there (yet)."""
    return Path(settings.HOME) / RESULTS_FOLDER / f"{job_id}{suffix}"


def job_rows(kind: JobKind[Any, R], job: Job) -> JobRows[R] | None:
    """Return the rows and the result of a finished job; None when they are not there.

    Args:
        kind: Its kind.
        job: The job.
    """
    facts = kind.found(job)
    rows = None if facts is None else job_table(job)
    return None if rows is None or facts is None else JobRows(rows=rows, facts=facts)


def job_table(job: Job, suffix: str = ROWS) -> pa.Table | None:
    """Return rows that a finished job has left; None when they are not there.

    Args:
        job: The job.
        suffix: Which rows of a job that leaves several files of them.
    """
    if job.state != Job.State.DONE:
        return None
    import pyarrow as pa  # noqa: PLC0415 (as above)

    try:
        with pa.memory_map(str(result_path(job.id, suffix))) as source:
            return pa.ipc.open_file(source).read_all()
    except (OSError, pa.ArrowInvalid):
        return None


def job_file(job: Job | None, suffix: str) -> Path | None:
    """Return another file that a finished job has left; None when it is not there."""
    if job is None or job.state != Job.State.DONE:
        return None
    path = result_path(job.id, suffix)
    return path if path.is_file() else None


def keep_rows(
    job_id: object,
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    *,
    suffix: str = ROWS,
) -> None:
    """Write a job's rows beside and rename the file: a page sees all of them or none.

    Another worker may be at the same job, so each writes a file of its own.

    Args:
        suffix: Ends the file's name, of a job that leaves several.
    """
    import pyarrow as pa  # noqa: PLC0415 (as above)

    path = result_path(job_id, suffix)
    path.parent.mkdir(parents=True, exist_ok=True)
    # The words of a column may grow from batch to batch.
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    beside = path.with_name(f"{job_id}.{secrets.token_hex(4)}{suffix}.part")
    try:
        with (
            pa.OSFile(str(beside), "wb") as sink,
            pa.ipc.new_file(sink, schema, options=options) as writer,
        ):
            for batch in batches:
                writer.write_batch(batch)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
