"""The scheduled tasks that send events of killed processes and delete old events."""

import math
import time
from datetime import timedelta
from typing import Final

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from apps.notices.events.publisher import prune_events, publish_quietly
from apps.notices.following.distribution import distribute
from apps.notices.sending.mails import request_due_mails
from apps.notices.sending.webhooks import send_due
from apps.operate.switches.state import NOTIFICATIONS, off_sentence

PRUNE_INTERVAL_S: Final = 3600
_pruned_at = {"monotonic_s": -math.inf}


@shared_task(name="notices.publish", ignore_result=True)
def publish_due(**_: object) -> None:
    """Publish what killed processes have left, tell people, and remove old events."""
    publish_quietly()
    serve_due()
    if time.monotonic() - _pruned_at["monotonic_s"] > PRUNE_INTERVAL_S:
        _pruned_at["monotonic_s"] = time.monotonic()
        prune_events(before=timezone.now() - timedelta(days=settings.EVENT_DAYS))


@shared_task(name="notices.serve", ignore_result=True)
def serve_due(**_: object) -> None:
    """Tell people and webhooks of the events that were published."""
    now = timezone.now()
    distribute(now=now)
    if off_sentence(NOTIFICATIONS) is None:
        request_due_mails(now=now)
        send_due(now=now)
