"""Which page of a table shows the result of a job about it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse

from apps.jobs.models import Job
from apps.jobs.results import ResultURL
from apps.tables.models import Table

Page = tuple[str, Sequence[object], Mapping[str, object]]
"""URL name, what it takes beside the table's names, and the query."""


def on_table(page: Callable[[Job], Page]) -> ResultURL:
    """Return the address of a page of the job's table; None if that is gone."""

    def result_url(job: Job) -> str | None:
        if job.subject_id is None:
            return None
        tables = Table.objects.filter(id=job.subject_id).only("namespace", "name")
        table = tables.first()
        if table is None:
            return None
        url_name, more, query = page(job)
        address = reverse(url_name, args=[table.namespace, table.name, *more])
        return f"{address}?{urlencode(query)}" if query else address

    return result_url


def _checkpoint(job: Job) -> Page:
    return "tables:table-checkpoint", (), {"v": job.parameters["version"]}


PAGES: Final = {
    "tables.load_samples": lambda _job: reverse("tables:table-list"),
    "tables.write_checkpoint": on_table(_checkpoint),
    "tables.clean_up_log": on_table(lambda _job: ("tables:table-cleanup", (), {})),
}
