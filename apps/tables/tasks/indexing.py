"""Indexes of logs, by Spark."""

import logging
from functools import partial

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from apps.tables.index_folders import RUNS_FOLDER, indexes_folder
from apps.tables.index_jobs import IndexBatch
from apps.tables.tasks.spark_session import SPARK_ATTEMPTS, spark_options

logger = logging.getLogger(__name__)


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

    options = spark_options()
    for attempt in range(1, SPARK_ATTEMPTS + 1):
        batch.begin("Starting Spark" if session.is_needed() else "Waiting for Spark")
        spark = session.get_spark(options)
        batch.work("Reading the log")
        jobs = batch.open_jobs
        requests = [
            pipeline.IndexRequest(
                location=job.table.location,
                folder=str(job.folder),
                storage_options=job.storage_options,
                allowed_roots=tuple(settings.ALLOWED_ROOTS or ()),
                max_task_bytes=settings.SPARK_REPLAY_BYTES,
                base="" if job.base is None else str(job.base),
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
