"""Profiles of columns: in process, or by Spark where they are long."""

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Final

import pyarrow.compute as pc
from django.conf import settings

from apps.jobs import kinds
from apps.jobs.kind import Queue
from apps.jobs.models import Job
from apps.jobs.running.tracking import TrackedJob
from apps.tables.index.engine import choose
from apps.tables.models import Table
from apps.tables.models.subjects import Page, on_table, table_of
from apps.tables.storage.opening import roots_of_server, table_place
from apps.tables.versions.column_address import column_address
from apps.tables.work.table_look import TableLook
from deltaweb import spark
from deltaweb.delta.profile import in_process
from deltaweb.delta.profile.described import ColumnProfile
from deltaweb.delta.snapshot import Snapshot
from deltaweb.table import DeltaTable

if TYPE_CHECKING:
    from apps.tables.index.spark_session import SparkSession

# What is described here: its values are held at once, texts of 256 characters at most.
FILES_HERE: Final = 1_000
ROWS_HERE: Final = 2_000_000
BYTES_HERE: Final = 256 << 20  # of whole data files, of which one column is read


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Which column is described."""

    version: int
    column: tuple[str, ...]


def profile_column(job: TrackedJob, asked: Profile) -> ColumnProfile:
    """Describe the values of a column: here, or by Spark where they are many."""
    table = table_of(job)
    place = table_place(table, roots=roots_of_server())
    num_files = _num_files(table, asked.version)

    @cache
    def snapshot() -> Snapshot:
        return DeltaTable.from_store(place.open()).snapshot(asked.version)

    def size_bytes() -> int | None:
        if num_files is None or num_files > FILES_HERE:
            return None
        num_records = snapshot().statistics(())["num_records"]
        if num_records.null_count or (pc.sum(num_records).as_py() or 0) > ROWS_HERE:
            return None
        size_bytes: int = pc.sum(snapshot().files["size"], min_count=0).as_py()
        return size_bytes

    def here() -> ColumnProfile:
        report = partial(job.progress, unit="rows")
        return in_process.profile_column(snapshot(), asked.column, on_progress=report)

    def on_spark(session: "SparkSession") -> ColumnProfile:
        job.step("Reading the column")
        request = spark.statistics.ProfileRequest(
            place=place,
            version=asked.version,
            column=asked.column,
            num_files=num_files,
        )
        report = job.progress_of("tasks")
        return spark.statistics.profile_column(session, request, on_progress=report)

    most = min(settings.SPARK_DIFF_BYTES, BYTES_HERE)
    profile, _engine = choose(
        size_bytes(), most, here=here, on_spark=on_spark, reports=job
    )
    return profile


def _num_files(table: Table, version: int) -> int | None:
    """Return how many files a version has, or the newest one has as a guess."""
    commit = table.commits.filter(version=version).first()
    num_files = table.num_files if version == table.version else None
    if num_files is None and commit is not None:
        num_files = commit.num_files
    return num_files if num_files is not None else table.num_files


def _page(job: Job) -> Page:
    address = column_address(job.parameters["column"])
    return "explorer:column-detail", (address,), {"v": job.parameters["version"]}


PROFILE: Final = kinds.register(
    TableLook(
        name="tables.profile_column",
        words="Profile a column",
        parameters=Profile,
        result=ColumnProfile,
        title=lambda table, asked: (
            f"Profile {'.'.join(asked.column)} of {table.full_name}"
            f" at version {asked.version}"
        ),
        is_apart=True,
        first_step="Reading the column",
        run=profile_column,
        queue=Queue.SPARK,
        page=on_table(_page),
    )
)
