"""A job that sleeps, for tests that kill its worker; run as a script to queue it.

python -m tests.functional.nap queue 60 0     a minute the first time, then none
python -m tests.functional.nap show JOB       the row as JSON
python -m tests.functional.nap wake JOB 5     send its wake-up five times more
"""

import json
import os
import sys
import time

import django
from celery import shared_task

TICK_S = 0.05


@shared_task(name="test.nap", acks_late=True, ignore_result=True)  # type: ignore[untyped-decorator]  # Celery has no types
def nap(*, job_id: str, **_: object) -> None:
    """Sleep for as long as this attempt is to take."""
    from apps.jobs.tracking import track_job

    with track_job(job_id) as job:
        if job is None:
            return
        naps_s = job.parameters["naps_s"]
        job.step("Napping")
        nap_s = naps_s[min(job.attempt, len(naps_s)) - 1]
        began_s = time.monotonic()
        while (napped_s := time.monotonic() - began_s) < nap_s:
            time.sleep(TICK_S)
            job.progress(int(napped_s), total=int(nap_s), unit="seconds")
        job.result = {"pid": os.getpid()}


def main() -> None:
    """Queue a nap or show one."""
    django.setup()
    from django.utils import timezone

    from apps.jobs.models import Job, Worker
    from apps.jobs.services import cancel, enqueue
    from apps.jobs.waking import wake

    verb, *arguments = sys.argv[1:]
    if verb == "queue":
        job = enqueue(
            kind="test.nap",
            title="Nap",
            parameters={"naps_s": [float(text) for text in arguments]},
            now=timezone.now(),
        )
    else:
        job = Job.objects.get(id=arguments[0])
    if verb == "cancel":
        job = cancel(job, now=timezone.now())
    if verb == "wake":
        for _ in range(int(arguments[1])):
            wake([job])
    row = {
        "id": str(job.id),
        "state": job.state,
        "attempts": job.attempts,
        "result": job.result,
        "error_code": job.error_code,
        "workers": Worker.objects.count(),
    }
    sys.stdout.write(json.dumps(row))


if __name__ == "__main__":
    main()
