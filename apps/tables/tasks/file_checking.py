"""Checks of tables' data files: one listing of storage each."""

import logging
from typing import TYPE_CHECKING

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from apps.jobs.tracking import TrackedJob, track_job
from apps.tables import file_checking
from apps.tables.models import Table
from apps.tables.opening import open_table, roots_of_server
from apps.tables.storage_connections import options_for
from apps.tables.tasks.job_table import table_of
from apps.tables.tasks.spark_session import SPARK_ATTEMPTS, spark_options
from deltaweb.index.file_check import FileCheck, check_files
from deltaweb.index.log_since import log_bytes
from deltaweb.table import DeltaTable

if TYPE_CHECKING:
    from deltaweb.spark.log_reader import LogSource

logger = logging.getLogger(__name__)


@shared_task(name="tables.check_files", acks_late=True, ignore_result=True)
def check_data_files(*, job_id: str, **_: object) -> None:
    """Find out which files of every version storage holds; safe to run twice.

    A large log is replayed by Spark, any other in process.
    """
    with track_job(job_id) as job:
        if job is None:
            return
        table = table_of(job)
        opened = open_table(table, roots=roots_of_server())
        job.step("Looking at the log")
        if log_bytes(opened.store) > settings.SPARK_REPLAY_BYTES:
            check = _check_by_spark(job, table)
        else:
            check = _check(job, opened)
        job.step("Storing what was found")
        job.check_held()
        job.result = file_checking.keep_check(table, check, now=timezone.now())
        for name, value in job.result.items():
            job.count(name.removeprefix("num_"), value)


def _check(job: TrackedJob, opened: DeltaTable) -> FileCheck:
    shown = ""

    def report(step: str, done: int, total: int | None, unit: str) -> None:
        nonlocal shown
        if step != shown:
            shown = step
            job.step(step)
        job.progress(done, total=total, unit=unit)

    return check_files(opened, report=report)


def _check_by_spark(job: TrackedJob, table: Table) -> FileCheck:
    """Let Spark replay the log; a session that dies is replaced once."""
    from deltaweb.spark import log_reader, pipeline  # workers alone load Spark

    source = log_reader.LogSource(
        table.location,
        options_for(table.location),
        tuple(settings.ALLOWED_ROOTS or ()),
    )
    for _attempt in range(1, SPARK_ATTEMPTS):
        try:
            return _check_once(job, source)
        except pipeline.SparkLostError:
            logger.warning("Spark stopped; the files are checked again.")
    return _check_once(job, source)


def _check_once(job: TrackedJob, source: "LogSource") -> FileCheck:
    from deltaweb.spark import file_check, session

    if session.is_needed():
        job.step("Starting Spark")
    spark = session.get_spark(spark_options())
    job.step("Replaying the log and listing storage")
    return file_check.check_files(
        spark,
        source,
        on_progress=lambda done, total: job.progress(done, total=total, unit="tasks"),
    )
