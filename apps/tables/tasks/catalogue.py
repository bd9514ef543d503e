"""What keeps the catalogue: checks, scans, and looks for new commits."""

import math
import time

from celery import shared_task
from django.utils import timezone

from apps.jobs.leftovers import remove_leftovers
from apps.jobs.models import Job
from apps.jobs.tracking import track_job
from apps.pages.actions import Actor
from apps.tables import checks, probing, services, spoilt_indexes
from apps.tables.index_folders import remove_orphaned_indexes

CLEAN_INTERVAL_S = 3600
_cleaned_at = {"monotonic_s": -math.inf}


@shared_task(name="tables.probe_due", ignore_result=True)
def probe_due(**_: object) -> None:
    """Look for new commits of every table that is due; safe to repeat."""
    probing.probe_tables(now=timezone.now())
    if time.monotonic() - _cleaned_at["monotonic_s"] > CLEAN_INTERVAL_S:
        _cleaned_at["monotonic_s"] = time.monotonic()
        remove_orphaned_indexes()
        remove_leftovers(now=timezone.now())
        spoilt_indexes.refresh_spoilt_indexes(now=timezone.now())


@shared_task(name="tables.check_location", acks_late=True, ignore_result=True)
def check_location(*, job_id: str, **_: object) -> None:
    """Say what is at a location before a table is registered there."""
    with track_job(job_id) as job:
        if job is None:
            return
        location = job.parameters["location"]
        found = checks.check_location(location, on_step=job.step)
        job.result = found.as_json()


@shared_task(name="tables.scan_root", acks_late=True, ignore_result=True)
def scan_root(*, job_id: str, **_: object) -> None:
    """Register every table below a folder; known ones stay as they are."""
    with track_job(job_id) as job:
        if job is None:
            return
        job.step("Looking for tables")
        requested_by = Job.objects.get(id=job.id).requested_by
        report = services.scan_root(
            root=job.parameters["root"], now=timezone.now(), created_by=requested_by
        )
        job.result = report.as_json()


@shared_task(name="tables.load_samples", acks_late=True, ignore_result=True)
def load_samples(*, job_id: str, **_: object) -> None:
    """Make and register the sample tables; those that stand stay as they are."""
    with track_job(job_id) as job:
        if job is None:
            return
        user = Job.objects.get(id=job.id).requested_by

        def on_table(name: str, done: int, total: int) -> None:
            job.step(f"Making {name}, table {done + 1} of {total}")

        tables = services.load_samples(
            now=timezone.now(),
            created_by=user,
            actor=Actor(name=user.username, user_id=user.pk) if user else None,
            on_table=on_table,
        )
        job.progress(len(tables), total=len(tables), unit="tables")
        job.result = {"tables": [table.full_name for table in tables]}
