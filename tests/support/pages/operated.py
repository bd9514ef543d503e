"""Operations as tests ask for them, and do their jobs here."""

from deltaweb.web.jobs import kinds
from deltaweb.web.jobs.models import Job
from deltaweb.web.pages.actions import command_stamp
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.operations.checkpoint.operation import (
    CHECKPOINT,
    WriteCheckpoint,
)
from deltaweb.web.tables.operations.requests import request_operation


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
