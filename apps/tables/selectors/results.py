"""Rows and files that jobs have left as Arrow files under the installation's home."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings

from apps.jobs.models import Job

if TYPE_CHECKING:  # commands that open no table have no need of Arrow
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRows:
    """What a job found: Arrow rows, mapped and not copied, and its own counts."""

    rows: pa.Table
    facts: dict[str, Any]


def preview_result(job: Job) -> JobRows | None:
    """Return the rows of a finished preview; None when they are not there (yet)."""
    return _read_result(job)


def version_files_result(job: Job) -> JobRows | None:
    """Return the file list of a finished job; None when it is not there (yet)."""
    return _read_result(job)


def file_diff_result(job: Job) -> JobRows | None:
    """Return what a finished comparison of files found; None when it is not there."""
    return _read_result(job)


def row_diff_result(job: Job) -> JobRows | None:
    """Return the sample of a finished comparison of rows; None when it is not there."""
    return _read_result(job)


def all_changed_rows(job: Job) -> Path | None:
    """Return the Parquet file of every changed row; None when it is not there."""
    path = Path(settings.HOME) / "results" / f"{job.id}.parquet"
    return path if job.state == Job.State.DONE and path.is_file() else None


def _read_result(job: Job) -> JobRows | None:
    if job.state != Job.State.DONE:
        return None
    import pyarrow as pa  # noqa: PLC0415 (as above)

    path = Path(settings.HOME) / "results" / f"{job.id}.arrow"
    try:
        with pa.memory_map(str(path)) as source:
            rows = pa.ipc.open_file(source).read_all()
    except (OSError, pa.ArrowInvalid):
        return None
    facts = job.result if isinstance(job.result, dict) else {}
    return JobRows(rows=rows, facts=facts)
