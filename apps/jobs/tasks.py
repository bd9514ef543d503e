"""Background work of the jobs themselves."""

import logging

from celery import shared_task
from django.utils import timezone

from apps.jobs.leases import sweep

logger = logging.getLogger(__name__)


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
