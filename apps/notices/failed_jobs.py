"""Failed jobs as events, except those that only fill a page, and repetitions."""

from datetime import datetime

from apps.jobs.kinds import looks, words_of
from apps.jobs.listing.selectors import without_places
from apps.jobs.models import Job
from apps.jobs.visibility import subject_links
from apps.notices.events import EventSubject, emit
from apps.notices.kinds.job_failed import JOB_FAILED, FailedJob


def report_failure(job: Job, now: datetime) -> None:
    """Report a job that has just failed, in the transaction that writes its end."""
    if _is_look(job) or _is_repeated(job):
        return
    links = subject_links([job.subject_id] if job.subject_id else [])
    link = links.get(job.subject_id) if job.subject_id else None
    emit(
        JOB_FAILED,
        EventSubject("job", str(job.id), job.title),
        FailedJob(
            job=str(job.id),
            work=words_of(job.kind),
            table=link.label if link else "",
            error_code=job.error_code,
            error_message=without_places(job.error, link),
            error_hint=without_places(job.error_hint, link),
        ),
        now=now,
        table_id=job.subject_id if link else None,
        key=f"{job.id}:{job.attempts}",
    )


def _is_look(job: Job) -> bool:
    """Whether it only fills a page, which shows its error."""
    return Job.objects.filter(looks(), id=job.id).exists()


def _is_repeated(job: Job) -> bool:
    """Whether the same work failed for the same reason the last time."""
    if job.subject_id is None:
        return False
    before = Job.objects.filter(
        kind=job.kind, subject_id=job.subject_id, finished_at__isnull=False
    ).exclude(id=job.id)
    last = before.order_by("-finished_at").first()
    return (
        last is not None
        and last.state == Job.State.FAILED
        and last.error_code == job.error_code
    )
