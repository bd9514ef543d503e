"""The pages of jobs."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django_htmx.http import HttpResponseClientRedirect, trigger_client_event

from apps.accounts.models import User
from apps.accounts.permissions import public, signed_in
from apps.jobs import kinds, services, visibility
from apps.jobs.listing import selectors
from apps.jobs.listing.job_list import JOBS
from apps.jobs.listing.resource import JobDetail
from apps.jobs.models import Job
from apps.jobs.waiting import wait_a_glance
from apps.pages.actions import Stamp, stamp_of
from apps.pages.errors import PageError
from apps.pages.page_json import shaped
from apps.pages.responses import respond


def job_list(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """List jobs, newest first."""
    return JOBS.answer(request, fmt)


def job_detail(request: HttpRequest, fmt: str, job_id: UUID) -> HttpResponseBase:
    """Show one job: progress, steps, counts, log, error."""
    job = selectors.get_job(request.user, job_id)
    wait_a_glance(job)
    view = selectors.job_view(job, now=timezone.now())
    user = signed_in(request)
    may_work = bool(visibility.work_of(user, [job]))
    may_see = may_work or not kinds.is_reserved(job.kind)
    result_url = kinds.result_url(job) if may_see else None
    data = shaped(
        JobDetail,
        view.describe(),
        parameters=job.parameters if may_work else None,
        result=job.result,
        steps=job.steps,
        counters=job.counters,
        log=job.log,
        result_url=result_url,
        details=(job.error_detail or None) if may_work else None,
        request_id=(job.request_id or None) if user.is_admin else None,
    )
    return respond(
        request,
        fmt,
        template="jobs/job_detail.html",
        context={
            "view": view,
            "job": job,
            "shows_details": may_work,
            "may_change": visibility.may_change(user, job),
            "may_retry": visibility.may_retry(user, job),
            "result_url": result_url,
            "request_id": data.request_id,
        },
        data=data,
    )


@never_cache
def job_progress(request: HttpRequest, job_id: UUID) -> HttpResponseBase:
    """Answer with the live part alone; once the job is over it asks no more.

    With `?then=reload` the page that shows it fetches its content again at the end, and
    shows nothing else meanwhile; with `?then=result` it goes to the page of the result,
    where there is one. The end is also an event, `job-finished`, for parts of the page
    that wait for it.
    """
    job = selectors.get_job(request.user, job_id)
    asked = request.GET.get("then")
    then = asked if asked in {"reload", "result"} else ""
    if job.is_active or not then:
        response = render(request, "jobs/_progress.html", {"job": job, "then": then})
    else:
        response = HttpResponse(status=204)
    if job.is_active:
        return response
    there = kinds.result_url(job) if then == "result" else None
    if there:
        return HttpResponseClientRedirect(there)
    trigger_client_event(
        response, "job-finished", {"id": str(job.id), "state": job.state}
    )
    if then:
        trigger_client_event(response, "page-moved-on", {})
    return response


@never_cache
def job_chip(request: HttpRequest) -> HttpResponseBase:
    """Answer with the chip of the top bar."""
    return render(request, "jobs/_chip.html")


def job_cancel(request: HttpRequest, job_id: UUID) -> HttpResponseBase:
    """Cancel a job, or ask its worker to stop."""
    job = job_to_change(signed_in(request), job_id)
    job = services.cancel(job, now=timezone.now())
    if job.is_active:
        messages.info(request, "The worker has been asked to stop.")
    return redirect("jobs:job-detail", job.id)


def job_retry(request: HttpRequest, job_id: UUID) -> HttpResponseBase:
    """Run a failed or cancelled job again, as a new job.

    A page that waits for the job's result names itself as `next`.
    """
    again = retry_asked(
        job_id, requested_by=signed_in(request), stamp=stamp_of(request)
    )
    waiting_page = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(waiting_page, allowed_hosts=None):
        return redirect(waiting_page)
    return redirect("jobs:job-detail", again.id)


@public
@never_cache
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


def _is_editor(request: HttpRequest) -> bool:
    return request.user.is_authenticated and signed_in(request).is_editor


def job_to_change(user: User, job_id: UUID) -> Job:
    """Return a job that a user may cancel, or run again if it failed."""
    job = selectors.get_job(user, job_id)
    if not visibility.may_change(user, job):
        raise PageError(
            status=403,
            code="permission-denied",
            message="Only who started a job, or may do its work, may change it.",
            hint="Ask that person, or an administrator.",
        )
    return job


def retry_asked(job_id: UUID, *, requested_by: User, stamp: Stamp) -> Job:
    """Run a failed or cancelled job again, as a new job of the user."""
    job = job_to_change(requested_by, job_id)
    if not visibility.may_retry(requested_by, job):
        raise PageError(
            status=403,
            code="permission-denied",
            message="Only people who may ask for this work may run it again.",
            hint="Ask for the right to edit the table.",
        )
    return services.retry(job, requested_by=requested_by, stamp=stamp)
