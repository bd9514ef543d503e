"""Jobs: how far they are, what came of them, and an end to them."""

from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from apps.accounts.permissions import signed_in
from apps.api.calls import Answer
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.pages import list_of, page_endpoint
from apps.jobs import services, waiting
from apps.jobs import urls as pages
from apps.jobs.listing.job_list import JOBS
from apps.jobs.listing.resource import JobDetail, Started
from apps.jobs.listing.selectors import outcome_of
from apps.jobs.models import Job as JobRow
from apps.jobs.views import job_to_change, retry_asked
from apps.pages.actions import stamp_of


def started(job: JobRow) -> Answer:
    """Answer with a job that was asked for just now, at its end if that is soon."""
    there = reverse("api:job", args=[job.id])
    return Answer(waiting.started(job), 202, {"Location": there})


class JobList(RestView):
    """The jobs."""

    get = page_endpoint(
        pages.urlpatterns, "job-list", list_of(JOBS), "List jobs, the newest first."
    )


class Job(RestView):
    """One job."""

    get = page_endpoint(
        pages.urlpatterns,
        "job-detail",
        JobDetail,
        "Get the progress and the result of a job.",
    )


class JobCancel(RestView):
    """The end of a job."""

    @endpoint(Role.VIEWER, answers=Started)
    def post(self, request: HttpRequest, job_id: UUID) -> Started:
        """Cancel a job.

        A running job stops as soon as it can. A finished job does not change.
        """
        job = job_to_change(signed_in(request), job_id)
        return Started(outcome_of(services.cancel(job, now=timezone.now())))


class JobRetry(RestView):
    """A job once more."""

    @endpoint(Role.VIEWER, answers={202: Started})
    def post(self, request: HttpRequest, job_id: UUID) -> Answer:
        """Run a failed or cancelled job again, as a new job."""
        return started(
            retry_asked(
                job_id, requested_by=signed_in(request), stamp=stamp_of(request)
            )
        )
