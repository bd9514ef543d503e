"""Jobs and workers as a page finds them: one at work, one that failed, one silent."""

import uuid
from datetime import timedelta

from django.utils import timezone

from apps.jobs.models import Job, Worker
from tests.support.pages.factories import new_job

SEEN, HIDDEN = uuid.uuid4(), uuid.uuid4()


def new_worker(name: str = "w", *queues: str, seconds_ago: int = 0) -> Worker:
    """A worker that takes jobs of some queues, last heard of a while ago."""
    seen_at = timezone.now() - timedelta(seconds=seconds_ago)
    return Worker.objects.create(
        name=name, queues=list(queues), started_at=seen_at, seen_at=seen_at
    )


def running(**fields: object) -> Job:
    """A job that a worker has replayed half a log for."""
    defaults = {
        "state": Job.State.RUNNING,
        "created_at": timezone.now(),
        "started_at": timezone.now(),
        "step": "Replaying the log",
        "progress_done": 212,
        "progress_total": 413,
        "progress_unit": "commits",
        "lease_owner": "w#1",
        "lease_expires_at": timezone.now() + timedelta(seconds=60),
    }
    return new_job(**(defaults | fields))


def failed(**fields: object) -> Job:
    """A job that met a gap in a log."""
    defaults = {
        "state": Job.State.FAILED,
        "step": "Listing the log",
        "error_code": "log-gap",
        "error": "Version 7 is missing.",
        "error_hint": "Restore it.",
        "error_detail": "Traceback: <secret>",
        "started_at": timezone.now(),
        "finished_at": timezone.now(),
    }
    return new_job(**(defaults | fields))
