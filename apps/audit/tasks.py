"""The scheduled tasks that copy the record out of the database and delete old lines."""

import math
import time
from datetime import timedelta
from typing import Final

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from apps.audit.outside import BATCH, send_events
from apps.audit.retention import erase_events
from deltaweb.environment.outages import outages

ERASE_INTERVAL_S: Final = 60.0
PAUSE_S: Final = 60.0
"""After a failure."""
PART: Final = "audit log"
_state = {"erased_s": -math.inf, "failed_s": -math.inf}


@shared_task(name="audit.keep", ignore_result=True)
def keep_record(**_: object) -> None:
    """Send new events to the place that is set, and erase old ones."""
    now, place = timezone.now(), settings.AUDIT_LOG
    if place and time.monotonic() - _state["failed_s"] > PAUSE_S:
        try:
            while send_events(place, now=now) == BATCH:
                pass
        except OSError as error:
            _state["failed_s"] = time.monotonic()
            outages.began(PART, str(error))
        else:
            outages.ended(PART)
    if settings.AUDIT_DAYS and time.monotonic() - _state["erased_s"] > ERASE_INTERVAL_S:
        _state["erased_s"] = time.monotonic()
        erase_events(before=now - timedelta(days=settings.AUDIT_DAYS), place=place)
