"""A request that waits a while for a job, so that a download needs one request."""

import time
from typing import Final

from django.utils import timezone

from apps.jobs.listing.selectors import is_attended
from apps.jobs.models import Job

WAIT_S: Final = 20.0
POLL_S: Final = 0.1


def wait_for(job: Job) -> None:
    """Wait a while for a job to end, as long as a worker is there to do it."""
    deadline_s = time.monotonic() + WAIT_S
    while job.state in Job.ACTIVE_STATES and time.monotonic() < deadline_s:
        if not is_attended(job, now=timezone.now()):
            return
        time.sleep(POLL_S)
        job.refresh_from_db()
