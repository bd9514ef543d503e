"""The pages of jobs."""

from collections.abc import Iterator
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import trigger_client_event

from apps.accounts.errors import RoleRequiredError
from apps.accounts.permissions import public
from apps.accounts.users import signed_in_user
from apps.jobs import results, selectors, services, visibility
from apps.jobs.forms import STATES, JobListForm
from apps.jobs.models import Job
from apps.pages.actions import actor_of
from apps.pages.errors import PageError
from apps.pages.responses import respond

CSV_COLUMNS = (
    *("id", "kind", "title", "state", "subject", "step", "progress_done"),
    *("progress_total", "progress_unit", "created_at", "started_at", "finished_at"),
    *("elapsed_s", "attempts", "error", "message", "hint"),
)
CSV_CHUNK = 500


@require_safe
def job_list(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """List jobs, newest first."""
    form = JobListForm(request.GET)
    if not form.is_valid():
        raise PageError(
            status=400,
            code="filter-invalid",
            message="That is not a filter of this list.",
            hint="Take away what was added to the address.",
        )
    state, kind = form.cleaned_data["state"], form.cleaned_data["kind"]
    number = form.cleaned_data["page"] or 1
    page = selectors.job_page(
        request.user, state=state, kind=kind, number=number, now=timezone.now()
    )
    query = {"state": state, "kind": kind}
    next_url = _page_url(request, query, number + 1) if page.has_next else None
    return respond(
        request,
        fmt,
        template="jobs/job_list.html",
        context={
            "page": page,
            "has_active": any(view.job.is_active for view in page.views),
            "state": state,
            "kind": kind,
            "states": STATES,
            "kinds": selectors.job_kinds(request.user) if fmt == "html" else [],
            "workers": selectors.worker_state(now=timezone.now()),
            "next_url": next_url,
            "previous_url": _page_url(request, query, number - 1),
        },
        data={
            "count": page.count,
            "next": request.build_absolute_uri(next_url) if next_url else None,
            "jobs": [view.as_json() for view in page.views],
        },
        rows=_csv_rows(request, state=state, kind=kind),
        fragment="job-rows",
    )


@require_safe
def job_detail(request: HttpRequest, fmt: str, job_id: UUID) -> HttpResponseBase:
    """Show one job: progress, steps, counts, log, error."""
    job = selectors.get_job(request.user, job_id)
    view = selectors.job_view(job, now=timezone.now())
    user = signed_in_user(request)
    is_for_editors = visibility.is_reserved(job.kind)
    may_see = user.is_editor or not is_for_editors
    result_url = results.result_url(job) if may_see else None
    data = view.as_json() | {
        "steps": job.steps,
        "counters": job.counters,
        "log": job.log,
        "result": job.result,
        "result_url": result_url,
    }
    if user.is_editor:
        data |= {"parameters": job.parameters, "details": job.error_detail or None}
    return respond(
        request,
        fmt,
        template="jobs/job_detail.html",
        context={
            "view": view,
            "job": job,
            "shows_details": user.is_editor,
            "may_change": may_change(request, job),
            "may_retry": may_retry(request, job),
            "result_url": result_url,
        },
        data=data,
    )


@require_safe
@never_cache
def job_progress(request: HttpRequest, job_id: UUID) -> HttpResponseBase:
    """Answer with the live part alone; once the job is over it asks no more.

    With `?then=reload` the page that shows it
    fetches its content anew at the end. The end is also an
    event, `job-finished`, for parts of the page that wait for it.
    """
    job = selectors.get_job(request.user, job_id)
    then = "reload" if request.GET.get("then") == "reload" else ""
    response = render(request, "jobs/_progress.html", {"job": job, "then": then})
    if not job.is_active:
        trigger_client_event(
            response, "job-finished", {"id": str(job.id), "state": job.state}
        )
        if then:
            trigger_client_event(response, "page-moved-on", {})
    return response


@require_safe
@never_cache
def job_chip(request: HttpRequest) -> HttpResponseBase:
    """Answer with the chip of the top bar."""
    return render(request, "jobs/_chip.html")


@require_POST
def job_cancel(request: HttpRequest, job_id: UUID) -> HttpResponseBase:
    """Cancel a job, or ask its worker to stop."""
    job = _job_to_change(request, job_id)
    job = services.cancel(job, now=timezone.now())
    if job.is_active:
        messages.info(request, "The worker has been asked to stop.")
    return redirect("jobs:job-detail", job.id)


@require_POST
def job_retry(request: HttpRequest, job_id: UUID) -> HttpResponseBase:
    """Run a failed or cancelled job again, as a new one.

    A page that waits for the job's result names itself as `next`.
    """
    job = _job_to_change(request, job_id)
    if not may_retry(request, job):
        raise RoleRequiredError(role="an editor or an administrator")
    again = services.retry(
        job,
        requested_by=signed_in_user(request),
        actor=actor_of(request),
        now=timezone.now(),
    )
    waiting_page = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(waiting_page, allowed_hosts=None):
        return redirect(waiting_page)
    return redirect("jobs:job-detail", again.id)


@public
@never_cache
@require_safe
def status(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Say whether work gets done: 200 with a living worker, 503 without one.

    A worker that is too busy to report lives: it holds jobs.
    """
    now = timezone.now()
    state = selectors.worker_state(now=now)
    data = {
        "status": _status_word(state),
        "workers": state.num_alive,
        "busy_workers": state.num_busy,
        "worker_seen_at": state.seen_at,
        "unattended_queues": list(state.unattended),
        "queued": state.num_queued,
        "running": state.num_running,
    }
    return respond(
        request,
        fmt,
        template="jobs/status.html",
        context={
            "workers": state,
            # Names of machines are for those who may look after them.
            "names": selectors.workers_alive(now=now) if _is_editor(request) else [],
        },
        data=data,
        status=200 if state.is_alive else 503,
    )


def _status_word(state: selectors.WorkerState) -> str:
    if state.is_busy:
        return "busy"
    return "ok" if state.is_alive else "no-worker"


def may_change(request: HttpRequest, job: Job) -> bool:
    """Whether the user may cancel or retry: who asked for it, and editors."""
    user = signed_in_user(request)
    return user.is_editor or job.requested_by_id == user.id


def may_retry(request: HttpRequest, job: Job) -> bool:
    """Whether the user may run it again: some work is for editors alone."""
    is_editors = visibility.is_reserved(job.kind)
    return may_change(request, job) and (not is_editors or _is_editor(request))


def _is_editor(request: HttpRequest) -> bool:
    return request.user.is_authenticated and signed_in_user(request).is_editor


def _job_to_change(request: HttpRequest, job_id: UUID) -> Job:
    job = selectors.get_job(request.user, job_id)
    if not may_change(request, job):
        raise PageError(
            status=403,
            code="permission-denied",
            message="Only who asked for a job, or an editor, may change it.",
            hint="Ask an editor of this installation.",
        )
    return job


def _page_url(request: HttpRequest, query: dict[str, str], number: int) -> str | None:
    if number < 1:
        return None
    kept = {name: value for name, value in query.items() if value}
    if number > 1:
        kept["page"] = str(number)
    return f"{request.path}?{urlencode(kept)}" if kept else request.path


def _csv_rows(
    request: HttpRequest, *, state: str, kind: str
) -> Iterator[tuple[object, ...]]:
    """Yield the header, then every job of the filter; read only for `.csv`."""
    yield CSV_COLUMNS
    jobs = selectors.filtered_jobs(request.user, state=state, kind=kind)
    rows: list[Job] = []
    for job in jobs.iterator(chunk_size=CSV_CHUNK):
        rows.append(job)
        if len(rows) == CSV_CHUNK:
            yield from _csv_chunk(rows)
            rows.clear()
    yield from _csv_chunk(rows)


def _csv_chunk(jobs: list[Job]) -> Iterator[tuple[object, ...]]:
    for view in selectors.job_views(jobs, now=timezone.now()):
        values = view.as_json()
        yield tuple(values[column] for column in CSV_COLUMNS)
