"""A table and its jobs as the `.json` of pages that ask for work shows them."""

from typing import Any

from deltaweb.web.jobs.models import Job
from deltaweb.web.pages.errors import PageError
from deltaweb.web.pages.request.server_paths import text_for_reader
from deltaweb.web.tables.models import Table


def names_of(table: Table) -> dict[str, Any]:
    """Return a table as these pages show it."""
    return {
        "namespace": table.namespace,
        "name": table.name,
        "latest_version": table.version,
        "state": table.state,
        "behind": table.behind or None,
        "indexed_at": table.indexed_at,
    }


def described(job: Job | None) -> dict[str, Any] | None:
    """Return a job as these pages show it."""
    if job is None:
        return None
    return {
        "id": job.id,
        "state": job.state,
        "step": job.step,
        "progress_done": job.progress_done,
        "progress_total": job.progress_total,
        "parameters": {k: v for k, v in job.parameters.items() if k != "table_id"},
        "result": job.result,
        "error": job.error_code or None,
        "message": text_for_reader(job.error) or None,
        "hint": text_for_reader(job.error_hint) or None,
        "finished_at": job.finished_at,
    }


def result_of(job: Job | None) -> dict[str, Any] | None:
    """Return what a job that is done has found; None before, and without one."""
    is_done = job is not None and job.state == Job.State.DONE
    return job.result if job and is_done and isinstance(job.result, dict) else None


def check_may(table: Table, version: int | None) -> None:
    """Refuse to ask for anything of a table that is not indexed yet.

    Raises:
        PageError: 409.
    """
    if version is None:
        raise PageError(
            status=409,
            code="not-indexed",
            message=f"{table.full_name} is not indexed yet.",
            hint="Ask again when it is.",
        )
