"""A job that sleeps, for tests that kill its worker.

A nursery begins its workers (`work`), and one process answers by the row of a job what
is asked of it (`answer`):

["queue", "a", "b"]   sleep until the file a is there; the next attempt waits for b;
                      `-` is not at all
["eat", "300", "kill"]   take so many MiB in a process of its own; then `end`, `kill`
                      itself, `spark` for what only the worker has, or wait for a file;
                      the next attempt ends
["look", "300", "kill"]   the same, in a process that does others, too
["show", JOB]         as it is now
["cancel", JOB]       ask for its end
["wake", JOB, "5"]    send its wake-up five times more
["sweep", JOB]        sweep, as the clock has it done
"""

import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celery import shared_task

from tests.functional.nap_workers import APART, AT_ONCE, CLOCK

if TYPE_CHECKING:
    from collections.abc import Callable

    from apps.jobs.models import Job

TICK_S = 0.05
BORN = time.time_ns()
LOOKED_AT_S = 0.5  # a process that takes much is looked at meanwhile


@shared_task(name="test.nap", acks_late=True, ignore_result=True)  # type: ignore[untyped-decorator]  # Celery has no types
def nap(*, job_id: str, **_: object) -> None:
    """Sleep until this attempt is woken."""
    from apps.jobs.running.tracking import track_job
    from apps.jobs.tasks import retirement

    with retirement.at_work(), track_job(job_id) as job:
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
        job.result = {"pid": os.getpid(), "born": BORN}


@shared_task(name="test.eat", acks_late=True, ignore_result=True)  # type: ignore[untyped-decorator]  # as above
def eat(*, job_id: str, **_: object) -> None:
    """Eat in a process of its own."""
    from apps.jobs.running.apart import work_apart

    work_apart(
        job_id,
        "tests.functional.nap:eat_here",
        job_id,
        here=lambda: eat_here(job_id),
        is_kept=bool(show(job_id).parameters["is_kept"]),
    )


def eat_here(job_id: str) -> None:
    """Take memory, and do what is asked then."""
    from apps.jobs.running.apart_process import hand_on_if_apart
    from apps.jobs.running.tracking import track_job

    with track_job(job_id) as job:
        if job is None:
            return
        eaten = [b"\1" * (1 << 20) for _ in range(int(job.parameters["mebibytes"]))]
        then = job.parameters["then"] if job.attempt == 1 else "end"
        job.step("Eaten")
        if then == "spark":
            hand_on_if_apart()
        elif then == "kill":
            time.sleep(LOOKED_AT_S)
            os.kill(os.getpid(), signal.SIGKILL)
        elif then != "end":
            job.result = {"pid": os.getpid()}
            Path(then).write_text(str(os.getpid()), encoding="ascii")
            while Path(then).exists():
                time.sleep(TICK_S)
        job.result = {"pid": os.getpid(), "eaten": len(eaten)}


def work(*words: str) -> None:
    """Be a worker, or the clock; jobs have processes apart only where that is asked."""
    from apps.jobs.running import apart
    from deltaweb.__main__ import main

    if words[0] != APART:
        setattr(apart, "is_possible", lambda: False)  # noqa: B010  # as on macOS
    words = words[words[0] == APART :]
    sys.argv = (
        ["deltaweb", *words] if words == CLOCK else ["deltaweb", "worker", *words]
    )
    main()


def answer(verb: str, *arguments: str) -> dict[str, Any]:
    """Do what is asked; return the row of the job."""
    from django.db import connection

    row = row_of(VERBS[verb](*arguments))
    connection.close()  # the next look is one at the database of that moment
    return row


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


def queue_look(mebibytes: str, then: str) -> "Job":
    """Queue a job that takes memory in a process that does others, too."""
    return queue_meal(mebibytes, then, is_kept=True)


def queue_meal(mebibytes: str, then: str, *, is_kept: bool = False) -> "Job":
    """Queue a job that takes memory."""
    from django.utils import timezone

    from apps.jobs.services import enqueue

    return enqueue(
        kind="test.eat",
        title="Eat",
        parameters={"mebibytes": mebibytes, "then": then, "is_kept": is_kept},
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


def sweep(job_id: str) -> "Job":
    """Queue again what a dead process has left."""
    from django.utils import timezone

    from apps.jobs.sweep import sweep

    sweep(now=timezone.now())
    return show(job_id)


VERBS: "dict[str, Callable[..., Job]]" = {
    "queue": queue,
    "eat": queue_meal,
    "look": queue_look,
    "show": show,
    "cancel": cancel,
    "wake": wake,
    "sweep": sweep,
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
        "error": job.error,
        "lease_expires_s": expires_at.timestamp() if expires_at else None,
        "workers": Worker.objects.count(),
    }
