"""What all data files of a version really hold, by their footers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from django.utils import timezone

from deltaweb.index.file_survey import survey_files, surveyed_columns
from deltaweb.parquet.inspection.survey import Survey
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable
from deltaweb.web.jobs import kinds
from deltaweb.web.jobs.kind import Queue
from deltaweb.web.jobs.results import keep_rows
from deltaweb.web.jobs.running.tracking import TrackedJob
from deltaweb.web.tables.index.spark_session import with_spark
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.models.subjects import on_table, table_of
from deltaweb.web.tables.storage.opening import open_table, roots_of_server, table_place
from deltaweb.web.tables.work.table_look import TableLook

if TYPE_CHECKING:
    from deltaweb.web.tables.index.spark_session import SparkSession

IN_PROCESS_FILES: Final = 500
"""So few footers are read sooner than Spark has started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSurvey:
    """Which version's files are looked into."""

    version: int


def survey_table(job: TrackedJob, asked: FileSurvey) -> dict[str, Any]:
    """Add up the footers of a version, and keep the sums as the job's rows.

    The rows are `SURVEY_SCHEMA`. Few files are read in process, any more by Spark.

    Returns:
        `engine`, and `seconds` that reading took.

    Raises:
        DeltaError: If the version cannot be read, or storage refuses.
    """
    table = table_of(job)
    begun = timezone.now()
    num_files = _num_files(table, asked.version)
    is_small = num_files is not None and num_files <= IN_PROCESS_FILES
    if is_small:
        job.step("Reading the footers")
        sums = survey_in_process(
            open_table(table, roots=roots_of_server()),
            asked.version,
            lambda done, total: job.progress(done, total=total, unit="files"),
        )
    else:
        sums = survey_by_spark(
            table_place(table, roots=roots_of_server()),
            asked.version,
            num_files,
            job.step,
            lambda done, total: job.progress(done, total=total, unit="tasks"),
        )
    keep_rows(job.id, sums.schema, sums.to_batches())
    seconds = (timezone.now() - begun).total_seconds()
    engine = "in process" if is_small else "Spark"
    return {"engine": engine, "seconds": round(seconds, 1)}


def survey_in_process(
    opened: DeltaTable, version: int | None, on_file: Callable[[int, int], None]
) -> pa.Table:
    """Add up the footers of a version, one after the other.

    Args:
        opened: The table.
        version: The version; None is the newest.
        on_file: Called with how many files are done, and of how many.

    Returns:
        `SURVEY_SCHEMA`.

    Raises:
        DeltaError: If the version cannot be read, or storage refuses.
    """
    snapshot = opened.snapshot_metadata(version)
    columns = surveyed_columns(snapshot.schema, snapshot.metadata.partition_columns)
    paths = snapshot.files["path"].to_pylist()
    survey = Survey(columns)
    survey_files(
        survey,
        paths,
        opened.store.open_data_file,
        lambda done: on_file(done, len(paths)),
    )
    return pa.Table.from_batches([survey.batch()])


def survey_by_spark(
    place: TablePlace,
    version: int,
    num_files: int | None,
    on_step: Callable[[str], None],
    on_progress: Callable[[int, int | None], None],
) -> pa.Table:
    """Add up the footers of a version by Spark's tasks.

    Args:
        place: The table.
        version: The version.
        num_files: About how many files it has; None where nobody knows.
        on_step: Called with what is done now.
        on_progress: Called with how many tasks are done, and of how many.

    Returns:
        `SURVEY_SCHEMA`.

    Raises:
        DeltaError: If the version cannot be read, or storage refuses.
    """
    from deltaweb.spark.data_files import (
        survey as file_survey,  # workers alone load Spark
    )

    request = file_survey.SurveyRequest(
        place=place, version=version, num_files=num_files
    )

    def work(spark: "SparkSession") -> pa.Table:
        on_step("Reading the footers")
        return file_survey.survey_version(spark, request, on_progress)

    return with_spark(on_step, work)


def _num_files(table: Table, version: int) -> int | None:
    """Return how many files a version has; None where nobody knows."""
    if version == table.version and table.num_files is not None:
        return table.num_files
    commit = table.commits.filter(version=version).first()
    return commit.num_files if commit is not None else None


SURVEY_FILES: Final = kinds.register(
    TableLook(
        name="tables.survey_files",
        words="Look into all files of a version",
        parameters=FileSurvey,
        title=lambda table, asked: (
            f"Look into the files of {table.full_name} at version {asked.version}"
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
