"""Checkpoints and clean-ups of a table's log: what they would do, then the job."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_http_methods

from apps.accounts.permissions import editor_required
from apps.jobs.models import Job
from apps.pages.actions import actor_of
from apps.pages.errors import PageError
from apps.pages.responses import json_response, respond
from apps.tables import services
from apps.tables.errors import CleanupOutdatedError
from apps.tables.forms import CheckpointForm, CleanupForm
from apps.tables.models import Table
from apps.tables.selectors.upkeep import (
    CheckpointPlan,
    CleanupPlan,
    Refusal,
    checkpoint_plan,
    cleanup_plan,
    described,
)
from apps.tables.services.upkeep_requests import (
    is_list,
    newest_checkpoint_job,
    newest_cleanup,
)
from apps.tables.views.shapes import signed_in

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
    job = services.request_checkpoint(
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
    job = newest_checkpoint_job(plan.head.table)
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
            "written": _result(job),
        },
        data={**_table(plan.head.table), **plan.describe(), "job": described(job)},
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
        job = services.list_again(
            table, requested_by=signed_in(request), now=timezone.now()
        )
    else:
        jobs = Job.objects.filter(id=seen, subject_id=table.id)
        try:
            job = services.request_cleanup(
                table,
                seen=jobs.first(),
                actor=actor_of(request),
                requested_by=signed_in(request),
                now=timezone.now(),
            )
        except CleanupOutdatedError as error:
            services.list_again(
                table, requested_by=signed_in(request), now=timezone.now()
            )
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
    found = _result(job)
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
        data={**_table(table), **plan.describe(), "job": described(job)},
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
    if version is None:
        raise PageError(
            status=409,
            code="not-indexed",
            message=f"{table.full_name} is not indexed yet.",
            hint="Ask again when it is.",
        )
    if refusal is not None:
        raise PageError(
            status=409, code=refusal.code, message=refusal.message, hint=refusal.hint
        )


def _queued(
    table: Table, page: str, job: Job, fmt: str, query: Mapping[str, str]
) -> HttpResponseBase:
    if fmt == "json":
        return json_response({**_table(table), "job": described(job)}, status=202)
    address = reverse(page, args=[table.namespace, table.name])
    return redirect(f"{address}?{urlencode(query)}" if query else address)


def _result(job: Job | None) -> dict[str, Any] | None:
    is_done = job is not None and job.state == Job.State.DONE
    return job.result if job and is_done and isinstance(job.result, dict) else None


def _table(table: Table) -> dict[str, Any]:
    return {
        "namespace": table.namespace,
        "name": table.name,
        "latest_version": table.version,
        "state": table.state,
        "indexed_at": table.indexed_at,
    }
