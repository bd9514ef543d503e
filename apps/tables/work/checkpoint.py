"""Checkpoints of logs that somebody asked for.

A job reads the log itself, not the index: what it writes has to be right.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from deltaweb.delta.log.checkpoints.sidecars import log_size_bytes
from deltaweb.delta.log.segment import load_log_segment
from deltaweb.delta.writing.checkpoint.builder import (
    CheckpointRequest,
    WrittenCheckpoint,
    build_checkpoint,
)
from deltaweb.web.accounts.models import User
from deltaweb.web.jobs import kinds
from deltaweb.web.jobs.kind import JobKind, Queue
from deltaweb.web.jobs.models import Job
from deltaweb.web.jobs.running.tracking import TrackedJob
from deltaweb.web.jobs.services import enqueue
from deltaweb.web.pages.actions import Actor
from deltaweb.web.tables.index.folders import RUNS_FOLDER, indexes_folder
from deltaweb.web.tables.index.spark_session import with_spark
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.models.subjects import Page, on_table, table_of
from deltaweb.web.tables.storage.opening import open_table, roots_of_server, table_place
from deltaweb.web.tables.work.log_writing import (
    MAX_FILES_NAMED,
    newest_of,
    record_log_writing,
)

if TYPE_CHECKING:
    from deltaweb.web.tables.index.spark_session import SparkSession

WRITING: Final = "Writing the checkpoint"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteCheckpoint:
    """Which checkpoint is written.

    Attributes:
        version: The version.
        parts: Into how many files; None is a single one.
    """

    version: int
    parts: int | None = None


@transaction.atomic
def request_checkpoint(  # noqa: PLR0913 (each is one part of what is asked)
    table: Table,
    *,
    version: int,
    parts: int | None,
    actor: Actor,
    now: datetime,
    requested_by: User | None = None,
) -> Job:
    """Queue a checkpoint; the job that already writes the same one is returned.

    Args:
        table: The table.
        version: The version to write it of.
        parts: Into how many files; None is a single one.
        actor: Who asked, for the record.
        now: The current time.
        requested_by: The same, if it is somebody with an account.
    """
    job = enqueue(
        kind=CHECKPOINT.name,
        title=f"Write the checkpoint of {table.full_name} at version {version}",
        parameters={"table_id": str(table.id), "version": version, "parts": parts},
        subject_id=table.id,
        key=f"checkpoint:{table.id}:{version}:{parts}",
        requested_by=requested_by,
        now=now,
    )
    if job.created_at == now:  # or whoever finds it under way had not asked for it
        detail = {"version": version, "parts": parts, "job": str(job.id)}
        record_log_writing(
            "table.checkpoint", table, detail=detail, actor=actor, now=now
        )
    return job


def newest_checkpoint_job(table: Table) -> Job | None:
    """Return the newest job that writes a checkpoint of a table."""
    return newest_of(CHECKPOINT.name, table)


def write_checkpoint(job: TrackedJob, asked: WriteCheckpoint) -> dict[str, Any]:
    """Write a checkpoint of a version, in process or by Spark.

    Raises:
        DeltaError: If the log does not build the version, or cannot be written to.
    """
    table = table_of(job)
    store = open_table(table, roots=roots_of_server()).store
    request = checkpoint_request(job, asked, now=timezone.now())
    job.step("Looking at the log")
    size_bytes = log_size_bytes(store, load_log_segment(store, request.version))
    if size_bytes > settings.SPARK_REPLAY_BYTES:
        written, engine = _write_by_spark(job, table, request), "Spark"
    else:
        job.step(WRITING)
        written, engine = build_checkpoint(store, request), "in process"
    count_written(job, written)
    return checkpoint_json(written, engine=engine)


def checkpoint_request(
    job: TrackedJob, asked: WriteCheckpoint, *, now: datetime
) -> CheckpointRequest:
    """Return what a job wants of a checkpoint; a cancelled job stops it.

    Args:
        job: Told how far it is.
        asked: Its parameters.
        now: The time by which tombstones expire.
    """

    def is_cancelled() -> bool:
        job.check_cancelled()
        return False

    return CheckpointRequest(
        now=now,
        version=asked.version,
        parts=asked.parts,
        on_progress=lambda done, total: job.progress(
            done, total=total, unit="file actions"
        ),
        is_cancelled=is_cancelled,
    )


def count_written(job: TrackedJob, written: WrittenCheckpoint) -> None:
    """Let the job's page tell what was written."""
    job.count("files", written.num_files)
    job.count("tombstones", written.num_tombstones)
    job.count("bytes", written.size_bytes)
    job.count("parts", len(written.names))
    for name in written.names[:MAX_FILES_NAMED]:
        job.log(f"Wrote {name}")


def checkpoint_json(written: WrittenCheckpoint, *, engine: str) -> dict[str, Any]:
    """Return a checkpoint that was written as a job's result."""
    return {
        "version": written.version,
        "files": list(written.names),
        "num_actions": written.num_actions,
        "num_files": written.num_files,
        "num_tombstones": written.num_tombstones,
        "size_bytes": written.size_bytes,
        "is_last": written.is_last,
        "engine": engine,
    }


def _write_by_spark(
    job: TrackedJob, table: Table, request: CheckpointRequest
) -> WrittenCheckpoint:
    from deltaweb.spark import checkpoint  # workers alone load Spark

    place = table_place(table, roots=roots_of_server())

    def work(spark: "SparkSession") -> WrittenCheckpoint:
        job.step(WRITING)
        scratch = indexes_folder() / RUNS_FOLDER
        return checkpoint.build_checkpoint(spark, place, request, scratch=scratch)

    return with_spark(job.step, work)


def _page(job: Job) -> Page:
    return "tables:table-checkpoint", (), {"v": job.parameters["version"]}


CHECKPOINT: Final = kinds.register(
    JobKind(
        name="tables.write_checkpoint",
        words="Write a checkpoint",
        parameters=WriteCheckpoint,
        run=write_checkpoint,
        queue=Queue.SPARK,  # of a large log
        is_reserved=True,
        page=on_table(_page),
    )
)
