"""What Celery calls by the clock: looks for new commits, and a clean-up each hour."""

import math
import time
from datetime import timedelta

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from apps.jobs.sweep import remove_leftovers
from apps.tables.catalogue.adding.uploads import forget_old_uploads
from apps.tables.catalogue.lakes.scan_job import request_due_scans
from apps.tables.extension.clock import request_due
from apps.tables.index import probing
from apps.tables.index.folders import remove_orphaned_indexes
from apps.tables.index.received_checks import request_received
from apps.tables.versions.archive import erase_archived

CLEAN_INTERVAL_S = 3600
_cleaned_at = {"monotonic_s": -math.inf}


@shared_task(name="tables.probe_due", ignore_result=True)
def probe_due(**_: object) -> None:
    """Check for new commits, and for new tables, where that is due; safe to repeat."""
    request_received(now=timezone.now())
    probing.probe_tables(now=timezone.now())
    request_due_scans(now=timezone.now())
    request_due(now=timezone.now())
    if time.monotonic() - _cleaned_at["monotonic_s"] > CLEAN_INTERVAL_S:
        _cleaned_at["monotonic_s"] = time.monotonic()
        remove_orphaned_indexes()
        remove_leftovers(now=timezone.now())
        forget_old_uploads()
        if settings.ARCHIVE_DAYS:
            kept = timedelta(days=settings.ARCHIVE_DAYS)
            erase_archived(before=timezone.now() - kept)
        probing.refresh_corrupt_indexes(now=timezone.now())
