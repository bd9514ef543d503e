"""Checkpoints and clean-ups of a table's log: what they would do, then the job."""

from collections.abc import Mapping
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_http_methods

from deltaweb.web.accounts.permissions import editor_required
from deltaweb.web.jobs.models import Job
from deltaweb.web.jobs.waiting import wait_a_glance
from deltaweb.web.pages.actions import actor_of
from deltaweb.web.pages.errors import PageError
from deltaweb.web.pages.responses import json_response, respond
from deltaweb.web.tables.catalogue.forms import CheckpointForm, CleanupForm
from deltaweb.web.tables.errors import CleanupOutdatedError
from deltaweb.web.tables.head.job_json import check_may, described, names_of, result_of
from deltaweb.web.tables.head.shapes import signed_in
from deltaweb.web.tables.maintenance.plans import (
    CheckpointPlan,
    CleanupPlan,
    Refusal,
    checkpoint_plan,
    cleanup_plan,
)
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.work.checkpoint import (
    newest_checkpoint_job,
    request_checkpoint,
)
from deltaweb.web.tables.work.cleanup import (
    is_list,
    list_again,
    newest_cleanup,
    request_cleanup,
)

# === Checkpoints ===


@require_http_methods(["GET", "HEAD", "POST"])
@editor_required
def table_checkpoint(
    request: HttpRequest, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """Show what a checkpoint would hold; a POST queues it."""
    is_asked = request.method == "POST"
    version = (request.POST if is_asked else request.GET).get("v", "")
    plan = checkpoint_plan(request.user, namespace, name, version)
    form = CheckpointForm(request.POST if is_asked else None)
    if not is_asked or not form.is_valid():
        return _checkpoint_page(request, plan, fmt, form)
    _check_may(plan.head.table, plan.version, plan.refusal)
    job = request_checkpoint(
        plan.head.table,
        version=plan.version or 0,
        parts=form.cleaned_data["parts"],
        actor=actor_of(request),
        requested_by=signed_in(request),
        now=timezone.now(),
    )
    query = {} if plan.head.is_latest else {"v": str(plan.version)}
    return _queued(plan.head.table, "tables:table-checkpoint", job, fmt, query)


def _checkpoint_page(
    request: HttpRequest, plan: CheckpointPlan, fmt: str, form: CheckpointForm
) -> HttpResponseBase:
    head = plan.head
    job = newest_checkpoint_job(head.table)
    if wait_a_glance(job):  # it is one of the older checkpoints now
        version = "" if head.is_latest else str(head.version)
        names = (head.table.namespace, head.table.name)
        plan = checkpoint_plan(request.user, *names, version)
    return respond(
        request,
        fmt,
        template="tables/table_checkpoint.html",
        fragment="live",
        context={
            "head": plan.head,
            "table": plan.head.table,
            "plan": plan,
            "form": form,
            "job": job,
            "written": result_of(job),
        },
        data={**names_of(plan.head.table), **plan.describe(), "job": described(job)},
        status=422 if form.errors else 200,
    )


# === Clean-ups ===


@require_http_methods(["GET", "HEAD", "POST"])
@editor_required
def table_cleanup(
    request: HttpRequest, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """Show what has expired; a POST lists it, and one that names a list deletes it."""
    plan = cleanup_plan(request.user, namespace, name, now=timezone.now())
    if request.method != "POST":
        return _cleanup_page(request, plan, fmt)
    table = plan.head.table
    _check_may(table, plan.head.version, plan.refusal)
    form = CleanupForm(request.POST)
    seen = form.cleaned_data["seen"] if form.is_valid() else None
    if seen is None:
        job = list_again(table, requested_by=signed_in(request), now=timezone.now())
    else:
        jobs = Job.objects.filter(id=seen, subject_id=table.id)
        try:
            job = request_cleanup(
                table,
                seen=jobs.first(),
                actor=actor_of(request),
                requested_by=signed_in(request),
                now=timezone.now(),
            )
        except CleanupOutdatedError as error:
            list_again(table, requested_by=signed_in(request), now=timezone.now())
            if fmt == "json":
                raise
            messages.error(request, f"{error.message} {error.hint}")
            return redirect("tables:table-cleanup", table.namespace, table.name)
    return _queued(table, "tables:table-cleanup", job, fmt, {})


def _cleanup_page(
    request: HttpRequest, plan: CleanupPlan, fmt: str
) -> HttpResponseBase:
    table = plan.head.table
    job = newest_cleanup(table)
    if wait_a_glance(job):  # what it took is gone from the head, too
        names = (table.namespace, table.name)
        plan = cleanup_plan(request.user, *names, now=timezone.now())
        table = plan.head.table
    found = result_of(job)
    return respond(
        request,
        fmt,
        template="tables/table_cleanup.html",
        fragment="live",
        context={
            "head": plan.head,
            "table": table,
            "plan": plan,
            "job": job,
            "found": found,
            "cutoff": parse_datetime(found["cutoff"]) if found else None,
            "is_list": job is not None and is_list(job),
            "outdated": _outdated(table, job),
        },
        data={**names_of(table), **plan.describe(), "job": described(job)},
    )


def _outdated(table: Table, job: Job | None) -> Job | None:
    """Return the clean-up that was refused for the list that is shown, if one was."""
    if job is None or job.parameters.get("seen") is not None:
        return None
    earlier = Job.objects.filter(
        subject_id=table.id, kind=job.kind, created_at__lt=job.created_at
    )
    refused = earlier.defer("log", "error_detail").order_by("-created_at").first()
    is_refused = refused and refused.error_code == CleanupOutdatedError.code
    return refused if is_refused else None


# === Both ===


def _check_may(table: Table, version: int | None, refusal: Refusal | None) -> None:
    check_may(table, version)
    if refusal is not None:
        raise PageError(
            status=409, code=refusal.code, message=refusal.message, hint=refusal.hint
        )


def _queued(
    table: Table, page: str, job: Job, fmt: str, query: Mapping[str, str]
) -> HttpResponseBase:
    if fmt == "json":
        return json_response({**names_of(table), "job": described(job)}, status=202)
    address = reverse(page, args=[table.namespace, table.name])
    return redirect(f"{address}?{urlencode(query)}" if query else address)
