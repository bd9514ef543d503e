"""Rows of a version: a page of them, or every one to be downloaded.

They are read in process, without Spark.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from django.utils import timezone

from apps.jobs import kinds
from apps.jobs.models import Job
from apps.jobs.results import keep_rows
from apps.jobs.running.tracking import TrackedJob
from apps.pages.page_json import IfKnown, Spread
from apps.tables.errors import ResultTooLargeError
from apps.tables.models import Table
from apps.tables.models.subjects import Page, on_table, table_of
from apps.tables.storage.opening import open_table, roots_of_server
from apps.tables.versions.file_checks import (
    FailedRead,
    failed_read_of,
    keep_failed_read,
    look_again,
)
from apps.tables.work.table_look import TableLook
from deltaweb.delta.errors import DataFileElsewhereError, DataFileMissingError
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.values.time_zones.known import UTC_ZONE

MAX_ROWS: Final = 10_000
MAX_BYTES: Final = 64 << 20  # of one result; wide rows end it early
MAX_EXPORT_BYTES: Final = 1 << 30  # of every row of a filter, as a file

Report = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """Which rows are read.

    Attributes:
        columns: Names; None is every column.
        predicate: A condition in SQL, or "".
        limit: How many rows; None is every one, batch by batch.
    """

    version: int
    columns: tuple[str, ...] | None = None
    predicate: str = ""
    time_zone: str = UTC_ZONE
    limit: int | None = 50
    offset: int = 0
    typed_variants: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsRead:
    """What a read of rows or files found, beside them.

    Attributes:
        rows: How many were read; None of a read that failed, like the next three.
        files_scanned: Files that were opened for it.
        files_total: All files of the version.
        more: Whether rows follow.
        failed: Why there are no rows: a file is gone from storage.
    """

    rows: IfKnown[int | None] = None
    files_scanned: IfKnown[int | None] = None
    files_total: IfKnown[int | None] = None
    more: IfKnown[bool | None] = None
    failed: IfKnown[Spread[FailedRead | None]] = None


def preview_rows(job: TrackedJob, asked: Preview) -> RowsRead:
    """Read rows of a version and keep them as the job's rows."""
    table = table_of(job)
    opened = open_table(
        table,
        roots=roots_of_server(),
        time_zone=asked.time_zone,
        is_waited_for=asked.limit is not None,
    )
    snapshot = opened.snapshot(asked.version)

    def report(rows: int) -> None:
        job.progress(rows, unit="rows")

    read = _read_every_row if asked.limit is None else _read_some
    try:
        facts = read(snapshot, asked, job_id=job.id, report=report)
    except DataFileElsewhereError:
        raise  # a right can make it readable again, so it is not noted as missing
    except DataFileMissingError as error:
        now = timezone.now()
        failed = keep_failed_read(table, snapshot, opened, error, now=now)
        return RowsRead(failed=failed)
    look_again(table, snapshot.version, opened.store)
    return facts


def _read_some(
    snapshot: Snapshot, asked: Preview, *, job_id: object, report: Report
) -> RowsRead:
    limit = min(asked.limit or 50, MAX_ROWS)
    offset = max(asked.offset, 0)
    scan = snapshot.scan(
        asked.columns,
        asked.predicate or None,
        limit=offset + limit + 1,
        typed_variants=asked.typed_variants,
    )
    batches, more = _window(scan, offset, limit, report)
    rows = sum(batch.num_rows for batch in batches)
    keep_rows(job_id, scan.schema, batches)
    return RowsRead(
        rows=rows,
        files_scanned=scan.files_scanned,
        files_total=scan.files_total,
        more=more,
    )


def _read_every_row(
    snapshot: Snapshot, asked: Preview, *, job_id: object, report: Report
) -> RowsRead:
    scan = snapshot.scan(asked.columns, asked.predicate or None)
    rows = size_bytes = 0

    def bounded() -> Iterator[pa.RecordBatch]:
        nonlocal rows, size_bytes
        for batch in scan:
            rows += batch.num_rows
            size_bytes += batch.nbytes
            if size_bytes > MAX_EXPORT_BYTES:
                raise ResultTooLargeError(rows=rows, max_bytes=MAX_EXPORT_BYTES)
            report(rows)
            yield batch

    keep_rows(job_id, scan.schema, bounded())
    return RowsRead(
        rows=rows,
        files_scanned=scan.files_scanned,
        files_total=scan.files_total,
        more=False,
    )


def _window(
    scan: Iterable[pa.RecordBatch], offset: int, limit: int, report: Report
) -> tuple[list[pa.RecordBatch], bool]:
    """Return the rows from `offset`, `limit` at most, and whether others follow."""
    kept: list[pa.RecordBatch] = []
    passed = size_bytes = 0
    for batch in _without_start(scan, offset, report):
        room = limit - passed
        if batch.num_rows > room or size_bytes > MAX_BYTES:
            kept.append(batch.slice(0, room))
            return [part for part in kept if part.num_rows], True
        kept.append(batch)
        passed += batch.num_rows
        size_bytes += batch.nbytes
    return kept, False


def _without_start(
    scan: Iterable[pa.RecordBatch], offset: int, report: Report
) -> Iterator[pa.RecordBatch]:
    seen = 0
    for batch in scan:
        start = max(offset - seen, 0)
        seen += batch.num_rows
        report(seen)
        if start < batch.num_rows:
            yield batch.slice(start)


def _is_cheap(_table: Table, asked: Preview) -> bool:
    """The first rows are in the first files; a condition may have to look into all."""
    return asked.limit is not None and not asked.offset and not asked.predicate


def _title(table: Table, asked: Preview) -> str:
    verb = "Export" if asked.limit is None else "Preview"
    return f"{verb} {table.full_name} at version {asked.version}"


def _missing_rows(job: Job) -> Page | None:
    """A job that met a missing file leads to the page that says what is gone."""
    if failed_read_of(job) is None:
        return None
    return "explorer:row-list", (), {"v": job.parameters["version"]}


PREVIEW: Final = kinds.register(
    TableLook(
        name="tables.preview_rows",
        words="Read rows",
        parameters=Preview,
        result=RowsRead,
        title=_title,
        is_cheap=_is_cheap,
        first_step="Reading rows",
        is_apart=True,
        is_long=lambda asked: asked.get("limit", 0) is None,
        run=preview_rows,
        page=on_table(_missing_rows),
    )
)
