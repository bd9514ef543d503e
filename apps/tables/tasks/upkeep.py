"""Checkpoints and clean-ups of logs: writing that somebody asked for."""

import logging
from typing import TYPE_CHECKING

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from apps.jobs.tracking import TrackedJob, track_job
from apps.tables import services, upkeep
from apps.tables.errors import CleanupOutdatedError
from apps.tables.index_folders import RUNS_FOLDER, indexes_folder
from apps.tables.models import Table
from apps.tables.opening import open_table, roots_of_server
from apps.tables.storage_connections import options_for
from apps.tables.tasks.job_table import table_of
from apps.tables.tasks.spark_session import SPARK_ATTEMPTS, spark_options
from deltaweb.delta.checkpoint_writer.builder import (
    CheckpointRequest,
    WrittenCheckpoint,
    build_checkpoint,
)

if TYPE_CHECKING:
    from deltaweb.spark.log_reader import LogSource

logger = logging.getLogger(__name__)

WRITING = "Writing the checkpoint"


@shared_task(name="tables.write_checkpoint", acks_late=True, ignore_result=True)
def write_checkpoint(*, job_id: str, **_: object) -> None:
    """Write a checkpoint of a version, in process or by Spark; safe to run twice."""
    with track_job(job_id) as job:
        if job is None:
            return
        table = table_of(job)
        store = open_table(table, roots=roots_of_server()).store
        request = upkeep.checkpoint_request(job, now=timezone.now())
        job.step("Looking at the log")
        size_bytes = upkeep.segment_bytes(store, request.version)
        if size_bytes > settings.SPARK_REPLAY_BYTES:
            written, engine = _write_by_spark(job, table, request), "Spark"
        else:
            job.step(WRITING)
            written, engine = build_checkpoint(store, request), "in process"
        upkeep.count_written(job, written)
        job.result = upkeep.checkpoint_json(written, engine=engine)


@shared_task(name="tables.clean_up_log", acks_late=True, ignore_result=True)
def clean_up_log(*, job_id: str, **_: object) -> None:
    """List history that has expired, or delete what was listed; safe to run twice."""
    with track_job(job_id) as job:
        if job is None:
            return
        table = table_of(job)
        job.step("Looking for history that has expired")
        deletes = job.parameters["seen"] is not None
        try:
            job.result = upkeep.clean_up(table, job, now=timezone.now())
        except CleanupOutdatedError:
            # The page then shows what would go now.
            deletes = False
            services.list_again(table, now=timezone.now())
            raise
        finally:
            if deletes:
                # Versions that are gone are marked in the history; one that is stopped
                # halfway has taken some.
                services.refresh_anew(table, now=timezone.now())


def _write_by_spark(
    job: TrackedJob, table: Table, request: CheckpointRequest
) -> WrittenCheckpoint:
    """Write the checkpoint by Spark; a session that dies is replaced once."""
    from deltaweb.spark import log_reader, pipeline  # workers alone load Spark

    source = log_reader.LogSource(
        table.location,
        options_for(table.location),
        tuple(settings.ALLOWED_ROOTS or ()),
    )
    for _attempt in range(1, SPARK_ATTEMPTS):
        try:
            return _write_once(job, source, request)
        except pipeline.SparkLostError:
            logger.warning("Spark stopped; the checkpoint is begun again.")
    return _write_once(job, source, request)


def _write_once(
    job: TrackedJob, source: "LogSource", request: CheckpointRequest
) -> WrittenCheckpoint:
    from deltaweb.spark import checkpoint, session

    if session.is_needed():
        job.step("Starting Spark")
    spark = session.get_spark(spark_options())
    job.step(WRITING)
    scratch = indexes_folder() / RUNS_FOLDER
    return checkpoint.build_checkpoint(spark, source, request, scratch=scratch)
