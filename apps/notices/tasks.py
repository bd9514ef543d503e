"""What Celery calls by the clock: events of killed processes, and old events."""

import math
import time
from datetime import timedelta
from typing import Final

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from apps.notices.events.publisher import prune_events, publish_quietly

PRUNE_INTERVAL_S: Final = 3600
_pruned_at = {"monotonic_s": -math.inf}


@shared_task(name="notices.publish", ignore_result=True)
def publish_due(**_: object) -> None:
    """Publish what killed processes have left, and remove old events."""
    publish_quietly()
    if time.monotonic() - _pruned_at["monotonic_s"] > PRUNE_INTERVAL_S:
        _pruned_at["monotonic_s"] = time.monotonic()
        prune_events(before=timezone.now() - timedelta(days=settings.EVENT_DAYS))
