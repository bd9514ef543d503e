"""Checks of tables' data files: one listing of storage each."""

from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.utils import timezone

from apps.accounts.models import User
from apps.jobs import kinds
from apps.jobs.kind import JobKind, NoParameters, Queue
from apps.jobs.models import Job
from apps.jobs.running.reports import Reports
from apps.jobs.running.tracking import TrackedJob
from apps.jobs.services import enqueue
from apps.tables.index.engine import Engine, choose
from apps.tables.models import Table
from apps.tables.models.subjects import on_table, table_of
from apps.tables.storage.opening import roots_of_server, table_place
from apps.tables.versions.file_checks import CheckedFiles, keep_check
from deltaweb.delta.log.checkpoints.sidecars import log_size_bytes
from deltaweb.delta.log.segment import load_log_segment
from deltaweb.index.file_check import FileCheck, check_files
from deltaweb.spark import data_files
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable

if TYPE_CHECKING:
    from apps.tables.index.spark_session import SparkSession


def request_file_check(
    table: Table, *, now: datetime, requested_by: User | None = None
) -> Job:
    """Queue a check of which data files of all versions storage holds.

    One that waits or runs is returned.
    """
    return enqueue(
        kind=CHECK_FILES.name,
        title=f"Verify the files of {table.full_name}",
        parameters={"table_id": str(table.id)},
        subject_id=table.id,
        key=f"check-files:{table.id}",
        requested_by=requested_by,
        now=now,
    )


def check_data_files(job: TrackedJob, _: NoParameters) -> CheckedFiles:
    """Find out which files of every version storage holds."""
    table = table_of(job)
    check = checked(table_place(table, roots=roots_of_server()), job)
    job.step("Storing what was found")
    job.check_held()
    result = keep_check(table, check, now=timezone.now())
    for name, value in result.counts.items():
        job.count(name.removeprefix("num_"), value)
    return result


def checked(
    place: TablePlace, reports: Reports, wanted: Engine | None = None
) -> FileCheck:
    """Find out which files of every version storage holds; nothing is kept.

    A large log is replayed by Spark, any other in process.

    Args:
        wanted: Who does it; None to choose.
    """
    store = place.open()
    reports.step("Reading the log")

    def on_spark(spark: "SparkSession") -> FileCheck:
        reports.step("Replaying the log and listing storage")
        tell = reports.progress_of("tasks")
        return data_files.file_check.check_files(spark, place, on_progress=tell)

    check, _engine = choose(
        log_size_bytes(store, load_log_segment(store)),
        settings.SPARK_REPLAY_BYTES,
        here=lambda: _check(reports, DeltaTable.from_store(store)),
        on_spark=on_spark,
        reports=reports,
        wanted=wanted,
    )
    return check


def _check(reports: Reports, opened: DeltaTable) -> FileCheck:
    shown = ""

    def report(step: str, done: int, total: int | None, unit: str) -> None:
        nonlocal shown
        if step != shown:
            shown = step
            reports.step(step)
        reports.progress(done, total=total, unit=unit)

    return check_files(opened, report=report)


CHECK_FILES: Final = kinds.register(
    JobKind(
        name="tables.check_files",
        words="Verify the files of a table",
        parameters=NoParameters,
        result=CheckedFiles,
        run=check_data_files,
        queue=Queue.SPARK,  # of a large log
        page=on_table(lambda _job: ("explorer:table-overview", (), {})),
    )
)
