"""A job that sleeps, for tests that kill its worker; run as a script to queue it.

`python -m tests.functional.nap` reads a list of words a line, as JSON, and answers each
by the row of its job, as JSON:

["queue", "a", "b"]   sleep until the file a is there; the next attempt waits for b;
                      `-` is not at all
["show", JOB]         as it is now
["cancel", JOB]       ask for its end
["wake", JOB, "5"]    send its wake-up five times more
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django
from celery import shared_task

from tests.functional.nap_workers import AT_ONCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from apps.jobs.models import Job

TICK_S = 0.05


@shared_task(name="test.nap", acks_late=True, ignore_result=True)  # type: ignore[untyped-decorator]  # Celery has no types
def nap(*, job_id: str, **_: object) -> None:
    """Sleep until this attempt is woken."""
    from apps.jobs.running.tracking import track_job

    with track_job(job_id) as job:
        if job is None:
            return
        alarms = job.parameters["alarms"]
        job.step("Napping")
        alarm = alarms[min(job.attempt, len(alarms)) - 1]
        num_ticks = 0
        while alarm != AT_ONCE and not Path(alarm).exists():
            time.sleep(TICK_S)
            num_ticks += 1
            job.progress(num_ticks, unit="ticks")
        job.result = {"pid": os.getpid()}


def main() -> None:
    """Answer each line of the input."""
    django.setup()
    from django.db import connection

    for line in sys.stdin:
        verb, *arguments = json.loads(line)
        row = row_of(VERBS[verb](*arguments))
        connection.close()  # the next look is one at the database of that moment
        print(json.dumps(row), flush=True)  # noqa: T201 (an answer)


def queue(*alarms: str) -> "Job":
    """Queue a nap."""
    from django.utils import timezone

    from apps.jobs.services import enqueue

    return enqueue(
        kind="test.nap",
        title="Nap",
        parameters={"alarms": list(alarms)},
        now=timezone.now(),
    )


def show(job_id: str) -> "Job":
    """Look at a job."""
    from apps.jobs.models import Job

    return Job.objects.get(id=job_id)


def cancel(job_id: str) -> "Job":
    """Ask for the end of a job."""
    from django.utils import timezone

    from apps.jobs import services

    return services.cancel(show(job_id), now=timezone.now())


def wake(job_id: str, times: str) -> "Job":
    """Send the wake-up of a job again and again."""
    from apps.jobs.broker import waking

    job = show(job_id)
    for _ in range(int(times)):
        waking.wake([job])
    return job


VERBS: "dict[str, Callable[..., Job]]" = {
    "queue": queue,
    "show": show,
    "cancel": cancel,
    "wake": wake,
}


def row_of(job: "Job") -> dict[str, Any]:
    """What tests look at."""
    from apps.jobs.models import Worker

    expires_at = job.lease_expires_at
    return {
        "id": str(job.id),
        "state": job.state,
        "attempts": job.attempts,
        "result": job.result,
        "error_code": job.error_code,
        "lease_expires_s": expires_at.timestamp() if expires_at else None,
        "workers": Worker.objects.count(),
    }


if __name__ == "__main__":
    main()
