"""Background work of the catalogue: thin, idempotent, by the job's id alone."""

import logging
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from apps.jobs.models import Job
from apps.jobs.tracking import TrackedJob, track_job
from apps.tables import checks, comparing, probing, profiling, reading, services
from apps.tables.errors import TableNotRegisteredError
from apps.tables.index_folders import (
    RUNS_FOLDER,
    indexes_folder,
    remove_orphaned_indexes,
)
from apps.tables.index_jobs import IndexBatch
from apps.tables.models import Table

if TYPE_CHECKING:
    from deltaweb.spark.session import SparkOptions

logger = logging.getLogger(__name__)

SPARK_ATTEMPTS = 2  # sessions that a batch may use up
CLEAN_INTERVAL_S = 3600
_cleaned_at = {"monotonic_s": 0.0}


@shared_task(name="tables.index_log", acks_late=True, ignore_result=True)
def index_log(*, job_id: str, **_: object) -> None:
    """Index the job's table, and tables of other waiting jobs, by one Spark job.

    Safe to run twice: an index is written beside and stored as a whole.
    """
    batch = IndexBatch.take(job_id, clock=timezone.now)
    try:
        if batch.jobs:
            _index_in_spark(batch)
    except Exception as error:  # noqa: BLE001 (the rows keep every failure)
        batch.fail_open(error)
    except BaseException:
        batch.release()
        raise
    finally:
        batch.close()


def _index_in_spark(batch: IndexBatch) -> None:
    """Run the Spark job; a session that dies is replaced once."""
    from deltaweb.spark import pipeline, session  # workers alone load Spark

    options = _spark_options()
    for attempt in range(1, SPARK_ATTEMPTS + 1):
        batch.begin("Starting Spark" if session.is_needed() else "Waiting for Spark")
        spark = session.get_spark(options)
        jobs = batch.open_jobs
        requests = [
            pipeline.IndexRequest(
                location=job.table.location,
                folder=str(job.folder),
                storage_options=job.storage_options,
                max_task_bytes=settings.SPARK_REPLAY_BYTES,
            )
            for job in jobs
        ]
        try:
            pipeline.index_tables(
                spark,
                requests,
                partial(batch.on_result, jobs),
                scratch=indexes_folder() / RUNS_FOLDER,
                on_tick=partial(batch.on_tick, jobs),
            )
        except pipeline.SparkLostError:
            if attempt == SPARK_ATTEMPTS:
                raise
            logger.warning("Spark stopped; its work is done again.")
        else:
            return


@shared_task(name="tables.profile_column", acks_late=True, ignore_result=True)
def profile_column(*, job_id: str, **_: object) -> None:
    """Describe the values of a column by Spark; safe to run twice."""
    with track_job(job_id) as job:
        if job is None:
            return
        from deltaweb.spark import session  # workers alone load Spark

        request = profiling.profile_facts(_table_of(job), job.parameters)
        for attempt in range(1, SPARK_ATTEMPTS + 1):
            if session.is_needed():
                job.step("Starting Spark")
            spark = session.get_spark(_spark_options())
            job.step("Reading the column")
            if _profile(job, spark, request, is_last=attempt == SPARK_ATTEMPTS):
                return


def _profile(
    job: TrackedJob,
    spark: Any,  # noqa: ANN401 (a SparkSession)
    facts: dict[str, Any],
    *,
    is_last: bool,
) -> bool:
    """Keep the profile as the job's result; tell whether Spark lived to make it."""
    from deltaweb.spark import column_reader, pipeline, statistics

    try:
        profile = statistics.profile_column(
            spark,
            column_reader.ProfileRequest(**facts),
            on_progress=lambda done, total: job.progress(
                done, total=total, unit="tasks"
            ),
        )
    except pipeline.SparkLostError:
        if is_last:
            raise
        logger.warning("Spark stopped; the column is read again.")
        return False
    job.result = profile.to_json()
    return True


def _spark_options() -> "SparkOptions":
    from deltaweb.spark import session

    return session.SparkOptions(
        master=settings.SPARK_MASTER,
        folder=Path(settings.HOME) / "spark",
        driver_memory=settings.SPARK_DRIVER_MEMORY,
    )


@shared_task(name="tables.probe_due", ignore_result=True)
def probe_due(**_: object) -> None:
    """Look for new commits of every table that is due; safe to repeat."""
    probing.probe_tables(now=timezone.now())
    if time.monotonic() - _cleaned_at["monotonic_s"] > CLEAN_INTERVAL_S:
        _cleaned_at["monotonic_s"] = time.monotonic()
        remove_orphaned_indexes()


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


@shared_task(name="tables.preview_rows", acks_late=True, ignore_result=True)
def preview_rows(*, job_id: str, **_: object) -> None:
    """Read some rows of a version for a page."""
    with track_job(job_id) as job:
        if job is None:
            return
        table = _table_of(job)
        job.step("Reading rows")
        job.result = reading.read_preview(
            table,
            job.parameters,
            job_id=job.id,
            report=lambda rows: job.progress(rows, unit="rows"),
        )


@shared_task(name="tables.list_version_files", acks_late=True, ignore_result=True)
def list_version_files(*, job_id: str, **_: object) -> None:
    """List the files of a version for a page."""
    with track_job(job_id) as job:
        if job is None:
            return
        table = _table_of(job)
        job.step("Replaying the log")
        job.result = reading.list_files(
            table,
            job.parameters["version"],
            job_id=job.id,
            report=lambda files: job.progress(files, unit="files"),
        )


@shared_task(name="tables.diff_files", acks_late=True, ignore_result=True)
def diff_files(*, job_id: str, **_: object) -> None:
    """Compare the files of two versions for a page."""
    with track_job(job_id) as job:
        if job is None:
            return
        table = _table_of(job)
        job.step("Replaying the log")
        job.result = comparing.compare_files(table, job.parameters, job_id=job.id)


@shared_task(name="tables.diff_rows", acks_late=True, ignore_result=True)
def diff_rows(*, job_id: str, **_: object) -> None:
    """Compare the rows of two versions for a page; safe to run twice."""
    with track_job(job_id) as job:
        if job is None:
            return
        table = _table_of(job)
        job.step("Reading the files that differ")
        job.result = comparing.compare_rows(
            table,
            job.parameters,
            job_id=job.id,
            report=lambda done, total: job.progress(done, total=total, unit="files"),
        )


def _table_of(job: TrackedJob) -> Table:
    table = Table.objects.filter(id=job.parameters["table_id"]).first()
    if table is None:
        raise TableNotRegisteredError(name=job.title)
    return table
