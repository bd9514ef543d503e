"""What Celery calls: a task for every kind of job, and the sweep."""

import logging
import os
from functools import partial
from typing import Any, Final

from celery import shared_task
from django.utils import timezone

from apps.jobs.kind import JobKind
from apps.jobs.kinds import all_kinds
from apps.jobs.running import apart
from apps.jobs.running.retirement import Retirement
from apps.jobs.sweep.leases import sweep

logger = logging.getLogger(__name__)


def _leave() -> None:
    """Let this worker end what it does, and take nothing more."""
    from celery.worker import state  # noqa: PLC0415 (workers alone load it)

    state.should_stop = os.EX_OK


retirement: Final = Retirement(_leave)
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


def _add_task(kind: JobKind[Any]) -> None:
    @shared_task(name=kind.name, acks_late=True, ignore_result=True)
    def work(*, job_id: str, **_: object) -> None:
        with retirement.at_work():
            _work(kind, job_id)


def _work(kind: JobKind[Any], job_id: str) -> None:
    if kind.is_apart and apart.is_possible():
        here = partial(kind.work, job_id)
        apart.work_apart(job_id, DO_JOB, kind.name, job_id, here=here)
    else:
        kind.work(job_id)


for _kind in all_kinds().values():
    _add_task(_kind)
