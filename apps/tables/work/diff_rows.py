"""The rows that differ between two versions: a sample, and all of them as a file.

Rows are compared in process, or by Spark for large changes.
"""

import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from django.conf import settings

from apps.jobs import kinds
from apps.jobs.kind import Queue
from apps.jobs.models import Job
from apps.jobs.results import keep_rows, result_path
from apps.jobs.running.tracking import TrackedJob
from apps.jobs.sweep import SCRATCH_FOLDER
from apps.pages.page_json import shaped
from apps.tables.index.engine import choose
from apps.tables.models.subjects import Page, on_table, table_of
from apps.tables.storage.opening import roots_of_server, table_place
from apps.tables.versions.change_file import ChangeFile
from apps.tables.versions.change_json import RowCounts, row_counts
from apps.tables.versions.file_checks import keep_missing
from apps.tables.work.table_look import TableLook
from deltaweb import spark
from deltaweb.delta.changes import RowDiffRequest, SnapshotDiff, diff_rows
from deltaweb.delta.changes.errors import VersionFilesMissingError
from deltaweb.delta.changes.snapshots import DiffRows as DiffEngine
from deltaweb.delta.protocol.column_path import join_names
from deltaweb.delta.protocol.schema import type_text
from deltaweb.table import DeltaTable

if TYPE_CHECKING:
    from apps.tables.index.spark_session import SparkSession

SAMPLE_ROWS: Final = 200  # of each kind
ALL_ROWS: Final = ".parquet"  # the suffix of the file of every changed row

Report = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRows:
    """Which versions are compared."""

    from_: int
    to: int
    key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDiff(RowCounts):
    """What comparing the rows of two versions found.

    Attributes:
        column_types: The types of the columns, by their names.
        download_bytes: Of the Parquet file of every changed row.
        skipped_files: Files that were not read, because they cannot differ.
    """

    column_types: Mapping[str, str]
    download_bytes: int
    skipped_files: int


def compare(job: TrackedJob, asked: DiffRows) -> RowDiff:
    """Compare the rows of two versions; their files decide whether Spark does it."""
    table = table_of(job)
    job.step("Replaying the log")
    place = table_place(table, roots=roots_of_server())
    opened = DeltaTable.from_store(place.open())
    diff = opened.compare(asked.from_, asked.to)
    work = partial(compare_rows, diff, asked.key, job_id=job.id)

    def here() -> RowDiff:
        job.step("Reading the files that differ")
        return work(report=job.progress_of("files"))

    def on_spark(session: "SparkSession") -> RowDiff:
        job.step("Reading and comparing the files that differ")
        engine = partial(spark.table_changes.diff_rows, session, place)
        return work(report=job.progress_of("tasks"), engine=engine)

    try:
        found, _engine = choose(
            diff.estimate().size_bytes,
            settings.SPARK_DIFF_BYTES,
            here=here,
            on_spark=on_spark,
            reports=job,
        )
    except VersionFilesMissingError as error:
        keep_missing(table, opened, error)
        raise
    return found


def compare_rows(
    diff: SnapshotDiff,
    key: Sequence[str],
    *,
    job_id: object,
    report: Report,
    engine: DiffEngine = diff_rows,
) -> RowDiff:
    """Compare the rows of two versions and keep what changed as the job's rows.

    Args:
        diff: The versions, from `DeltaTable.compare`.
        job_id: Names the results: a sample, and all of it as Parquet.
        report: Told what is done so far, and of how much; it may raise to stop.
    """
    path = result_path(job_id, ALL_ROWS)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _scratch_folder(job_id) as folder, ChangeFile(path) as file:
        request = RowDiffRequest(
            key=key, folder=folder, sample_rows=SAMPLE_ROWS, on_progress=report
        )
        changes = diff.rows(file.joined(request), engine)
    sample = changes.sample.to_table()
    keep_rows(job_id, sample.schema, sample.to_batches())
    skipped = diff.estimate().num_skipped_files
    return shaped(
        RowDiff,
        row_counts(changes),
        column_types={
            field.name: type_text(field.data_type)
            for field in changes.columns.schema.fields
        },
        download_bytes=path.stat().st_size,
        skipped_files=skipped,
    )


@contextmanager
def _scratch_folder(job_id: object) -> Iterator[Path]:
    """Give a folder to spread rows in; another worker may be at the same job.

    What a killed one leaves is swept (`apps.jobs.sweep`).
    """
    mark = secrets.token_hex(4)
    folder = Path(settings.HOME) / SCRATCH_FOLDER / f"{job_id}-{mark}"
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _page(job: Job) -> Page:
    versions = (job.parameters["from"], job.parameters["to"])
    key = join_names(job.parameters.get("key") or ())
    query = {"view": "rows"} | ({"key": key} if key else {})
    return "explorer:compare-detail", versions, query


DIFF_ROWS: Final = kinds.register(
    TableLook(
        name="tables.diff_rows",
        words="Compare rows",
        parameters=DiffRows,
        result=RowDiff,
        title=lambda table, asked: (
            f"Compare rows of {table.full_name}, versions {asked.from_} and {asked.to}"
        ),
        is_apart=True,
        run=compare,
        queue=Queue.SPARK,
        page=on_table(_page),
    )
)
