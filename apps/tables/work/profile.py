"""Profiles of columns, by Spark."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from deltaweb import spark
from deltaweb.web.jobs import kinds
from deltaweb.web.jobs.kind import Queue
from deltaweb.web.jobs.models import Job
from deltaweb.web.jobs.running.tracking import TrackedJob
from deltaweb.web.tables.index.spark_session import with_spark
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.models.subjects import Page, on_table, table_of
from deltaweb.web.tables.storage.opening import roots_of_server, table_place
from deltaweb.web.tables.versions.column_address import column_address
from deltaweb.web.tables.work.table_look import TableLook

if TYPE_CHECKING:
    from deltaweb.web.tables.index.spark_session import SparkSession


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Which column is described."""

    version: int
    column: tuple[str, ...]


def profile_column(job: TrackedJob, asked: Profile) -> dict[str, Any]:
    """Describe the values of a column."""
    table = table_of(job)
    request = spark.column_reader.ProfileRequest(
        place=table_place(table, roots=roots_of_server()),
        version=asked.version,
        column=asked.column,
        num_files=_num_files(table, asked.version),
    )

    def work(session: "SparkSession") -> dict[str, Any]:
        job.step("Reading the column")
        profile = spark.statistics.profile_column(
            session,
            request,
            on_progress=lambda done, total: job.progress(
                done, total=total, unit="tasks"
            ),
        )
        return profile.to_json()

    return with_spark(job.step, work)


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
        title=lambda table, asked: (
            f"Profile {'.'.join(asked.column)} of {table.full_name}"
            f" at version {asked.version}"
        ),
        run=profile_column,
        queue=Queue.SPARK,
        page=on_table(_page),
    )
)
