"""Registered tables: `list`, `refresh`."""

import time

from django.core.management.base import CommandParser
from django.utils import timezone

from apps.jobs.listing.selectors import is_attended, outcome_of
from apps.jobs.models import Job
from apps.pages.command import Output, Subcommand
from apps.pages.errors import PageError
from apps.tables.catalogue.names import find_table
from apps.tables.errors import NoWorkerError
from apps.tables.head.shapes import TableResource, table_json, table_resource
from apps.tables.index.refresh import refresh_table
from apps.tables.management import text_output
from apps.tables.models import Table


class ListVerb(Subcommand):
    """List the registered tables."""

    def run(self) -> Output:
        """List every table, whoever may see it."""
        tables = [
            table_resource(one)
            for one in Table.objects.select_related("owned_by").defer("summary")
        ]
        if not tables:
            return Output(tables, "No tables yet: table add NAME LOCATION")
        return Output(tables, lines=text_output.listed(tables, COLUMNS))


def _state(table: TableResource) -> str:
    return f"BEHIND: {table.behind}" if table.behind else table.state


COLUMNS: text_output.Columns[TableResource] = {
    "NAME": "name",
    "VERSION": "version",
    "STATE": _state,
    "INDEXED": lambda table: text_output.time_text(table.indexed_at),
    "LOCATION": "location",
}


POLL_S = 0.3
NO_WORKER_AFTER_S = 10.0


class RefreshVerb(Subcommand):
    """Index a table's new commits."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument("--wait", action="store_true", help="wait for the end")

    def run(self, *, name: str, wait: bool) -> Output:
        """Queue an index job; with `--wait` say how it ended."""
        table = find_table(name)
        job = refresh_table(table, now=timezone.now())
        if wait:
            self._wait(job)
            table.refresh_from_db()
        job.refresh_from_db()
        data = table_json(table) | {"job": outcome_of(job)}
        done = f"Indexed {table.full_name}: version {table.version}"
        return Output(data, done if wait else f"Queued: {job}")

    def _wait(self, job: Job) -> None:
        """Wait until the job has ended."""
        started = time.monotonic()
        while job.state in Job.ACTIVE_STATES:
            waits = job.state == Job.State.QUEUED
            is_late = time.monotonic() - started > NO_WORKER_AFTER_S
            if waits and is_late and not is_attended(job, now=timezone.now()):
                raise NoWorkerError(job=str(job))
            time.sleep(POLL_S)
            job.refresh_from_db()
        if job.state != Job.State.DONE:
            fallback = f"The job was {job.get_state_display()}."
            raise PageError(
                status=422,
                code=job.error_code or f"job-{job.state.lower()}",
                message=job.error or fallback,
                hint=job.error_hint,
            )
