"""A job that sleeps, for tests that kill its worker; run as a script to queue it.

python -m tests.functional.nap queue a b      sleep until the file a is there; the next
                                              attempt waits for b; `-` is not at all
python -m tests.functional.nap watch          the row, as JSON, of each job that the
                                              input names, a line each
python -m tests.functional.nap wake JOB 5     send its wake-up five times more
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
    """Queue a nap or show some."""
    django.setup()
    verb, *arguments = sys.argv[1:]
    if verb == "watch":
        watch()
        return
    from django.utils import timezone

    from apps.jobs.broker.waking import wake
    from apps.jobs.models import Job
    from apps.jobs.services import cancel, enqueue

    if verb == "queue":
        job = enqueue(
            kind="test.nap",
            title="Nap",
            parameters={"alarms": arguments},
            now=timezone.now(),
        )
    else:
        job = Job.objects.get(id=arguments[0])
    if verb == "cancel":
        job = cancel(job, now=timezone.now())
    if verb == "wake":
        for _ in range(int(arguments[1])):
            wake([job])
    sys.stdout.write(json.dumps(row_of(job)))


def watch() -> None:
    """Answer every job's id of the input by its row as it is now."""
    from django.db import connection

    from apps.jobs.models import Job

    for line in sys.stdin:
        row = row_of(Job.objects.get(id=line.strip()))
        connection.close()  # the next look is one at the database of that moment
        print(json.dumps(row), flush=True)  # noqa: T201 (an answer)


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
