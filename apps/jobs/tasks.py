"""What Celery calls: a task for every kind of job, and the sweep."""

import logging
import os
from functools import partial
from typing import Final

from celery import shared_task
from django.utils import timezone

from apps.jobs.broker.aside import JobsAside
from apps.jobs.broker.waking import wake
from apps.jobs.kind import AnyKind, Queue
from apps.jobs.kinds import all_kinds
from apps.jobs.models import Job
from apps.jobs.running import apart
from apps.jobs.running.retirement import Retirement
from apps.jobs.sweep import sweep

logger = logging.getLogger(__name__)


def _leave() -> None:
    """Let this worker end what it does, and take nothing more."""
    from celery.worker import state  # noqa: PLC0415 (workers alone load it)

    state.should_stop = os.EX_OK


retirement: Final = Retirement(_leave)
jobs_aside: Final = JobsAside()
DO_JOB: Final = "apps.jobs.kinds:do_job"


@shared_task(name="jobs.sweep_leases", ignore_result=True)
def sweep_leases(**_: object) -> None:
    """Put right what killed workers and lost messages left behind; safe to repeat."""
    result = sweep(now=timezone.now())
    if result.requeued or result.given_up:
        logger.warning(
            "%d jobs lost their worker and were queued again, %d were given up.",
            result.requeued,
            result.given_up,
        )


def _add_task(kind: AnyKind) -> None:
    @shared_task(name=kind.name, acks_late=True, ignore_result=True)
    def work(
        *,
        job_id: str,
        queue: str = "",
        is_handed_on: bool = False,
        is_aside: bool = False,
        **_: object,
    ) -> None:
        if is_aside:
            jobs_aside.add(job_id, partial(_work_aside, kind, job_id))
            return
        with retirement.at_work():
            if is_handed_on or not (kind.is_apart and apart.is_possible()):
                kind.work(job_id)
            else:
                _work_apart(kind, job_id, is_look=queue == Queue.INTERACTIVE)


def _work_aside(kind: AnyKind, job_id: str) -> None:
    """Do a job in a process of its own, which ends with it."""
    here = partial(kind.work, job_id)
    with retirement.at_work():
        if apart.is_possible():
            apart.work_apart(job_id, DO_JOB, kind.name, job_id, here=here)
            _note_killed(kind, job_id)
        else:
            here()


def _note_killed(kind: AnyKind, job_id: str) -> None:
    ended = Job.objects.filter(id=job_id, error_code=apart.JobMemoryError.code)
    if kind.note_killed is not None and (job := ended.first()) is not None:
        kind.note_killed(job)


def _work_apart(kind: AnyKind, job_id: str, *, is_look: bool) -> None:
    """Do a job in a process of its own, and a look in one that does others, too."""
    here = partial(kind.work, job_id)
    if is_look and kind.queue != Queue.INTERACTIVE:
        here = partial(_hand_on, kind, job_id)  # others would wait for Spark here
    apart.work_apart(job_id, DO_JOB, kind.name, job_id, here=here, is_kept=is_look)


def _hand_on(kind: AnyKind, job_id: str) -> None:
    wake([Job(id=job_id, kind=kind.name)], on_to=kind.queue)


for _kind in all_kinds().values():
    _add_task(_kind)
