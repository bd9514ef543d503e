"""Where the result of a job is shown: filled by the apps above, a kind at a time."""

from collections.abc import Callable, Mapping

from apps.jobs.models import Job

ResultURL = Callable[[Job], str | None]
"""The page of a finished job's result; None where there is none any more."""

_pages: dict[str, ResultURL] = {}


def register(pages: Mapping[str, ResultURL]) -> None:
    """Say where the results of some kinds of jobs are shown."""
    _pages.update(pages)


def result_url(job: Job) -> str | None:
    """Return the page of a job's result; None before it is done, or without one."""
    page = _pages.get(job.kind)
    if page is None or job.state != Job.State.DONE:
        return None
    return page(job)
