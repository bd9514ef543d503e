"""The maintenance of a table in one place: what is to be done, and what was."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone

from apps.accounts.permissions import signed_in
from apps.jobs.models import Job
from apps.jobs.waiting import wait_a_glance
from apps.pages.changes.change import VIEWER
from apps.pages.changes.read import Read, reads
from apps.pages.page_json import As, OnPage
from apps.pages.responses import json_response, respond_page
from apps.tables.head.finding import OF_TABLE, get_own_table
from apps.tables.head.job_json import check_may, described
from apps.tables.head.shapes import names_of
from apps.tables.head.table_head import TableHead, table_head
from apps.tables.health.repeats.resources import (
    LABELS,
    RepeatResource,
    repeats_of,
)
from apps.tables.models import Table
from apps.tables.models.repeats import EVERY
from apps.tables.operations.checkpoint.page import CHECKPOINT_PAGE
from apps.tables.operations.clean_up.page import CLEAN_UP_PAGE
from apps.tables.operations.optimize.page import OPTIMIZE_PAGE
from apps.tables.operations.pages.page import AnyPage
from apps.tables.operations.requests import request_preview
from apps.tables.operations.restore.page import RESTORE_PAGE
from apps.tables.operations.vacuum.operation import VACUUM, Vacuum
from apps.tables.operations.vacuum.page import VACUUM_PAGE
from apps.tables.operations.vacuum.storage_ledger import (
    StorageLedger,
    ledger_of,
)

NUM_RUNS: Final = 12


TOOLS: Final[tuple[AnyPage, ...]] = (
    VACUUM_PAGE,
    OPTIMIZE_PAGE,
    RESTORE_PAGE,
    CHECKPOINT_PAGE,
    CLEAN_UP_PAGE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    """A tool, its page, and how it was used last."""

    name: str
    heading: str
    about: str
    icon: OnPage[str]
    url: str
    previews_at_once: OnPage[bool]
    last: Annotated[Job | None, As(described)]


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenancePage:
    """The page.

    Attributes:
        storage: The files of the table in storage, by kind.
        tools: The maintenance operations, each with its newest job.
        repeats: Those that a schedule repeats.
    """

    head: OnPage[TableHead]
    table: OnPage[Table]
    namespace: str
    name: str
    latest_version: int | None
    storage: StorageLedger
    tools: list[OfferedTool]
    repeats: list[RepeatResource]
    repeatable: OnPage[Mapping[str, str]]
    every: OnPage[Mapping[str, str]]
    runs: Annotated[list[Job], As(lambda jobs: [described(job) for job in jobs])]


def maintenance_page(table: Table) -> MaintenancePage:
    """Return the page of a table that the user may see."""
    kinds = [tool.operation.kind for tool in TOOLS]
    jobs = Job.objects.filter(subject_id=table.id, kind__in=kinds)
    jobs = jobs.defer("log", "error_detail").select_related("requested_by")
    ordered = jobs.order_by("-created_at", "-id")
    runs = list(ordered[:NUM_RUNS])
    return MaintenancePage(
        head=table_head(table),
        table=table,
        namespace=table.namespace,
        name=table.name,
        latest_version=table.version,
        storage=ledger_of(table),
        tools=[_offered(table, tool, runs, ordered.filter) for tool in TOOLS],
        repeats=repeats_of(table),
        repeatable=LABELS,
        every=EVERY,
        runs=runs,
    )


def _offered(
    table: Table, tool: AnyPage, runs: list[Job], find: Callable[..., Any]
) -> OfferedTool:
    kind = tool.operation.kind
    last = next((job for job in runs if job.kind == kind), None)
    if last is None and len(runs) == NUM_RUNS:
        last = find(kind=kind).first()
    return OfferedTool(
        name=tool.slug,
        heading=tool.heading,
        about=tool.about,
        icon=tool.icon,
        url=tool.address(table),
        previews_at_once=tool.previews_at_once,
        last=last,
    )


def table_maintenance(
    request: HttpRequest, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """Show what is stored and what can be done; a POST lists the folder again."""
    table = get_own_table(request.user, namespace, name)
    if request.method == "POST":
        return _list_again(request, table, fmt)
    page = maintenance_page(table)
    return respond_page(
        request,
        fmt,
        page,
        template="tables/maintenance/table_maintenance.html",
        fragment="live",
    )


def _list_again(request: HttpRequest, table: Table, fmt: str) -> HttpResponseBase:
    """Queue the look that lists the folder, which changes nothing."""
    check_may(table, table.version)
    job = request_preview(
        VACUUM,
        table,
        Vacuum(),
        now=timezone.now(),
        requested_by=signed_in(request),
    )
    wait_a_glance(job)
    if fmt == "json":
        data = {**names_of(table), "job": described(job)}
        return json_response(data, status=202)
    return redirect("tables:table-maintenance", table.namespace, table.name)


reads.register(
    Read(
        route=f"{OF_TABLE}/maintenance",
        view="TableMaintenance",
        page="tables:table-maintenance",
        shows=MaintenancePage,
        help="Get the storage and the last maintenance runs of a table.",
        role=VIEWER,
    )
)
