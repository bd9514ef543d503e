"""The first rows of one Parquet file of a table."""

import json
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from apps.jobs import kinds
from apps.jobs.results import keep_rows
from apps.jobs.running.tracking import TrackedJob
from apps.tables.models.subjects import on_table
from apps.tables.work.file_look import (
    FileLook,
    LookedAtFile,
    opened_file,
    page_of_file,
    title_of,
)
from deltaweb.parquet import preview
from deltaweb.parquet.tail import RangeSource

NUM_ROWS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRows(LookedAtFile):
    """Which rows are read.

    Attributes:
        row_group: The row group whose first rows these are; None is the file.
    """

    row_group: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRowsRead:
    """How many first rows of a file were read."""

    rows: int


def preview_file(job: TrackedJob, asked: FirstRows) -> FirstRowsRead:
    """Read the first rows of a file, in a process of their own.

    The rows of the job have one column `row`, each a JSON object.
    """
    with opened_file(job, asked) as source:
        return keep_first_rows(job, source, asked.row_group)


def keep_first_rows(
    job: TrackedJob, source: RangeSource, row_group: int | None = None
) -> FirstRowsRead:
    """Read the first rows of an open file, and keep them as `preview_file` says."""
    rows = preview(source, NUM_ROWS, row_group=row_group)
    texts = pa.array([json.dumps(row) for row in rows], pa.large_string())
    batch = pa.RecordBatch.from_arrays([texts], names=["row"])
    keep_rows(job.id, batch.schema, [batch])
    return FirstRowsRead(rows=len(rows))


PREVIEW_FILE: Final = kinds.register(
    FileLook(
        name="tables.preview_file",
        words="Read the first rows of a file",
        parameters=FirstRows,
        result=FirstRowsRead,
        title=lambda table, asked: title_of("First rows of", table, asked),
        first_step="Reading the first rows",
        is_apart=True,
        run=preview_file,
        page=on_table(page_of_file),
    )
)
