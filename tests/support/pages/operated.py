"""Operations as tests ask for them, and do their jobs here."""

from apps.jobs import kinds
from apps.jobs.models import Job
from apps.pages.actions import command_stamp
from apps.tables.models import Table
from apps.tables.operations.checkpoint.operation import (
    CHECKPOINT,
    WriteCheckpoint,
)
from apps.tables.operations.requests import request_operation


def worked(job: Job) -> Job:
    """Do a job here, as a worker does, and return it as it is then."""
    kinds.all_kinds()[job.kind].work(job.id)
    job.refresh_from_db()
    return job


def work_newest() -> Job:
    """Do the newest job that is no index."""
    return worked(Job.objects.exclude(kind="tables.index_log").latest("created_at"))


def request_checkpoint(
    table: Table, *, version: int | None = None, parts: int | None = None
) -> Job:
    """Queue a checkpoint, which may be asked for unseen."""
    wanted = WriteCheckpoint(version=version, parts=parts)
    return request_operation(
        CHECKPOINT, table, wanted, seen=None, stamp=command_stamp()
    )
