"""Profiles of columns, by Spark."""

import logging
from typing import Any

from celery import shared_task

from apps.jobs.tracking import TrackedJob, track_job
from apps.tables import profiling
from apps.tables.tasks.job_table import table_of
from apps.tables.tasks.spark_session import SPARK_ATTEMPTS, spark_options

logger = logging.getLogger(__name__)


@shared_task(name="tables.profile_column", acks_late=True, ignore_result=True)
def profile_column(*, job_id: str, **_: object) -> None:
    """Describe the values of a column by Spark; safe to run twice."""
    with track_job(job_id) as job:
        if job is None:
            return
        from deltaweb.spark import session  # workers alone load Spark

        request = profiling.profile_facts(table_of(job), job.parameters)
        for attempt in range(1, SPARK_ATTEMPTS + 1):
            if session.is_needed():
                job.step("Starting Spark")
            spark = session.get_spark(spark_options())
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
