"""Index jobs: a table's log is read by Spark, with the logs of others that wait.

Small ones are read in process until Spark runs.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.utils import timezone

from apps.accounts.models import User
from apps.jobs import kinds
from apps.jobs.kind import JobKind, NoParameters, Queue
from apps.jobs.models import Job
from apps.jobs.services import enqueue, enqueue_many
from apps.tables import index
from apps.tables.index.folders import RUNS_FOLDER, LogIndexed, indexes_folder
from apps.tables.models import Table
from apps.tables.models.subjects import on_table
from apps.tables.storage.received import (
    IS_RECEIVED,
    asking,
    check_awake,
    is_received,
    note_end,
)
from deltaweb import spark

if TYPE_CHECKING:
    from apps.tables.index.jobs import IndexBatch, IndexJob
    from apps.tables.index.spark_session import SparkSession
    from deltaweb.spark.table_tasks import IndexRequest

READING: Final = "Reading the log"
WOKEN_AT_ONCE: Final = 8  # jobs of many; each takes others along that wait


def refresh_table(
    table: Table, *, now: datetime, requested_by: User | None = None
) -> Job:
    """Queue an index of the table's log; a queued or running one is returned."""
    return enqueue(**_asked(table), requested_by=requested_by, now=now)


def index_new(
    tables: Sequence[Table], *, now: datetime, requested_by: User | None
) -> None:
    """Queue the first index of tables that are registered together."""
    jobs = [
        Job(**_asked(table), requested_by=requested_by, created_at=now)
        for table in tables
    ]
    enqueue_many(jobs, num_woken=WOKEN_AT_ONCE)


def _asked(table: Table) -> dict[str, Any]:
    """Return what a job says that indexes a table."""
    parameters: dict[str, Any] = {"table_id": str(table.id)}
    if is_received(table.location):
        parameters[IS_RECEIVED] = True
    return {
        "kind": REFRESH.name,
        "title": f"Index {table.full_name}"[:300],
        "parameters": parameters,
        "subject_id": table.id,
        "key": f"index:{table.id}",
    }


def refresh_again(table: Table, *, now: datetime) -> Job:
    """Queue an index of a log that has just lost commits; no version tells of that.

    One that runs may have listed the log before: another comes after it.
    """
    job = refresh_table(table, now=now)
    if job.state != Job.State.RUNNING:
        return job
    return enqueue(
        kind=job.kind,
        title=job.title,
        parameters=job.parameters,
        subject_id=table.id,
        key=f"index:{table.id}:after:{job.id}",
        now=now,
    )


def index_log(job_id: str) -> None:
    """Index the job's table, and tables of other waiting jobs, by one Spark job.

    Safe to run twice: an index is written beside and stored as a whole.
    """
    batch = index.jobs.IndexBatch.take(job_id, clock=timezone.now)
    try:
        if batch.jobs:
            with batch.jobs[0].job.named_in_lines():
                _index(batch)
    except Exception as error:  # noqa: BLE001 (the rows keep every failure)
        batch.fail_open(error)
    except BaseException:
        batch.release()
        raise
    finally:
        batch.close()


def _index(batch: "IndexBatch") -> None:
    """Index by one Spark job, each time with the jobs that have not ended.

    Where Spark does not run, this process begins with small logs at once: nobody
    waits seconds for Spark to be told what takes a tenth of one. A log that has ended
    this process before is read by a task of Spark.
    """
    if batch.is_received:
        _index_received(batch)
        return
    if not spark.driver.installed.is_installed():
        _index_here(batch, settings.SPARK_REPLAY_BYTES)
        return
    most = min(settings.SMALL_LOG_BYTES, settings.SPARK_REPLAY_BYTES)
    if most and batch.is_first_attempt and spark.driver.session.is_needed():
        with index.spark_session.spark_after(settings.SPARK_AFTER_S) as is_spark_there:
            _index_here(batch, most, is_spark_there)
    if batch.open_jobs:
        index.spark_session.with_spark(
            batch.begin, partial(_index_on_spark, batch), idle="Waiting for Spark"
        )


def _index_received(batch: "IndexBatch") -> None:
    """Index a received table: only in this process, which is a job's own."""
    (location,) = {job.place.location for job in batch.jobs}
    check_awake(location, now=timezone.now())
    with asking(location) as note:
        _index_here(batch, None)
        (note.code,) = {job.error_code for job in batch.jobs}


def _note_killed(job: Job) -> None:
    """Let a table rest, and its provider, that took a job's process its memory."""
    table = Table.objects.filter(id=str(job.parameters["table_id"])).first()
    if table is not None:
        index.results.store_failure(
            table.id,
            code=job.error_code,
            message=job.error,
            hint=job.error_hint,
            now=timezone.now(),
        )
        note_end(table.location, job.error_code)


def _index_here(
    batch: "IndexBatch",
    max_bytes: int | None,
    is_spark_there: Callable[[], bool] | None = None,
) -> None:
    batch.begin(READING)
    jobs = batch.open_jobs
    spark.table_tasks.index_in_process(
        _requests(jobs, max_bytes),
        partial(batch.on_result, jobs),
        scratch=indexes_folder() / RUNS_FOLDER,
        on_tick=partial(batch.on_tick, jobs),
        is_spark_there=is_spark_there,
    )


def _index_on_spark(batch: "IndexBatch", session: "SparkSession") -> None:
    batch.work(READING)
    jobs = batch.open_jobs
    spark.pipeline.index_tables(
        session,
        _requests(jobs, settings.SPARK_REPLAY_BYTES),
        partial(batch.on_result, jobs),
        scratch=indexes_folder() / RUNS_FOLDER,
        on_tick=partial(batch.on_tick, jobs),
    )


def _requests(
    jobs: "Sequence[IndexJob]", max_bytes: int | None
) -> "list[IndexRequest]":
    return [
        spark.table_tasks.IndexRequest(
            place=job.place,
            folder=str(job.folder),
            max_task_bytes=max_bytes,
            base="" if job.base is None else str(job.base),
        )
        for job in jobs
    ]


REFRESH: Final = kinds.register(
    JobKind(
        name="tables.index_log",
        words="Index a table",
        parameters=NoParameters,
        result=LogIndexed,
        batch=index_log,
        queue=Queue.SPARK,
        is_aside=lambda parameters: bool(parameters.get(IS_RECEIVED)),
        note_killed=_note_killed,
        page=on_table(lambda _job: ("explorer:table-overview", (), {})),
    )
)
