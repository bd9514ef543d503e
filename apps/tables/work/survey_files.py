"""What all data files of a version really hold, by their footers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from django.utils import timezone

from apps.jobs import kinds
from apps.jobs.kind import Queue
from apps.jobs.results import keep_rows
from apps.jobs.running.reports import Reports
from apps.jobs.running.tracking import TrackedJob
from apps.tables.index.engine import Engine, choose
from apps.tables.models import Table
from apps.tables.models.subjects import on_table, table_of
from apps.tables.storage.opening import roots_of_server, table_place
from apps.tables.work.table_look import TableLook
from deltaweb.index.file_survey import survey_files, surveyed_columns
from deltaweb.parquet.inspection.survey import Survey
from deltaweb.spark import data_files
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable

if TYPE_CHECKING:
    from apps.tables.index.spark_session import SparkSession

IN_PROCESS_FILES: Final = 500
"""So few footers are read sooner than Spark has started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSurvey:
    """Which version's files are inspected."""

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Surveyed:
    """How the footers of a version were read.

    Attributes:
        engine: Who read them, in words.
        seconds: How long that took.
    """

    engine: str
    seconds: float


def survey_table(job: TrackedJob, asked: FileSurvey) -> Surveyed:
    """Add up the footers of a version, and keep the sums as the job's rows.

    The rows are `SURVEY_SCHEMA`. Few files are read in process, any more by Spark.
    """
    table = table_of(job)
    begun = timezone.now()
    place = table_place(table, roots=roots_of_server())
    num_files = _num_files(table, asked.version)
    sums, engine = survey(place, asked.version, num_files, job)
    keep_rows(job.id, sums.schema, sums.to_batches())
    seconds = (timezone.now() - begun).total_seconds()
    return Surveyed(engine=engine.words, seconds=round(seconds, 1))


def survey(
    place: TablePlace,
    version: int,
    num_files: int | None,
    reports: Reports,
    wanted: Engine | None = None,
) -> tuple[pa.Table, Engine]:
    """Add up the footers of a version.

    Args:
        num_files: About how many files it has; None if unknown.
        wanted: Who reads; None to choose.

    Returns:
        `SURVEY_SCHEMA`, and who read.
    """

    def on_spark(spark: "SparkSession") -> pa.Table:
        reports.step("Reading the footers")
        request = data_files.shares.VersionRequest(
            place=place, version=version, num_files=num_files
        )
        return data_files.survey.survey_version(
            spark, request, reports.progress_of("tasks")
        )

    return choose(
        num_files,
        IN_PROCESS_FILES,
        here=lambda: _survey_here(place, version, reports),
        on_spark=on_spark,
        reports=reports,
        wanted=wanted,
    )


def _survey_here(place: TablePlace, version: int, reports: Reports) -> pa.Table:
    reports.step("Reading the footers")
    opened = DeltaTable.from_store(place.open())
    snapshot = opened.snapshot_metadata(version)
    columns = surveyed_columns(snapshot.schema, snapshot.metadata.partition_columns)
    paths = snapshot.files["path"].to_pylist()
    survey, tell = Survey(columns), reports.progress_of("files")
    survey_files(
        survey,
        paths,
        opened.store.open_data_file,
        lambda done: tell(done, len(paths)),
    )
    return pa.Table.from_batches([survey.batch()])


def _num_files(table: Table, version: int) -> int | None:
    """Return how many files a version has; None if unknown."""
    if version == table.version and table.num_files is not None:
        return table.num_files
    commit = table.commits.filter(version=version).first()
    return commit.num_files if commit is not None else None


SURVEY_FILES: Final = kinds.register(
    TableLook(
        name="tables.survey_files",
        words="Inspect all files of a version",
        parameters=FileSurvey,
        result=Surveyed,
        title=lambda table, asked: (
            f"Inspect the files of {table.full_name} at version {asked.version}"
        ),
        run=survey_table,
        queue=Queue.SPARK,  # of many files
        page=on_table(
            lambda job: (
                "explorer:parquet-detail",
                (),
                {"v": job.parameters["version"]},
            )
        ),
    )
)
