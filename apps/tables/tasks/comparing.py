"""What differs between two versions, for pages."""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from celery import shared_task

from apps.jobs.tracking import TrackedJob, track_job
from apps.tables import comparing
from apps.tables.file_checking import keep_missing
from apps.tables.tasks.job_table import table_of
from apps.tables.tasks.spark_session import SPARK_ATTEMPTS, spark_options
from deltaweb.delta.errors import VersionFilesMissingError

logger = logging.getLogger(__name__)


@shared_task(name="tables.diff_files", acks_late=True, ignore_result=True)
def diff_files(*, job_id: str, **_: object) -> None:
    """Compare the files of two versions for a page."""
    with track_job(job_id) as job:
        if job is None:
            return
        table = table_of(job)
        job.step("Replaying the log")
        job.result = comparing.compare_files(table, job.parameters, job_id=job.id)


@shared_task(name="tables.diff_rows", acks_late=True, ignore_result=True)
def diff_rows(*, job_id: str, **_: object) -> None:
    """Compare the rows of two versions for a page; safe to run twice.

    The files that differ decide by their size whether Spark does it.
    """
    with track_job(job_id) as job:
        if job is None:
            return
        table = table_of(job)
        job.step("Replaying the log")
        diff = comparing.open_diff(table, job.parameters)
        compare = partial(
            comparing.compare_rows,
            diff,
            tuple(job.parameters.get("key") or ()),
            job_id=job.id,
        )
        try:
            if comparing.is_for_spark(diff):
                _compare_on_spark(job, comparing.place_facts(table), compare)
                return
            job.step("Reading the files that differ")
            job.result = compare(report=_reporter(job, "files"))
        except VersionFilesMissingError as error:
            keep_missing(table, error)
            raise


def _compare_on_spark(
    job: TrackedJob, place: dict[str, Any], compare: Callable[..., dict[str, Any]]
) -> None:
    """Let Spark compare the rows; a session that dies is replaced once."""
    from deltaweb.spark import (  # workers alone load Spark
        pipeline,
        session,
        table_changes,
    )

    for attempt in range(1, SPARK_ATTEMPTS + 1):
        if session.is_needed():
            job.step("Starting Spark")
        spark = session.get_spark(spark_options())
        job.step("Reading and comparing the files that differ")
        engine = partial(
            table_changes.diff_rows, spark, table_changes.DataPlace(**place)
        )
        try:
            job.result = compare(report=_reporter(job, "tasks"), engine=engine)
        except pipeline.SparkLostError:
            if attempt == SPARK_ATTEMPTS:
                raise
            logger.warning("Spark stopped; its work is done again.")
        else:
            return


def _reporter(job: TrackedJob, unit: str) -> comparing.Report:
    def report(done: int, total: int) -> None:
        job.progress(done, total=total, unit=unit)

    return report
