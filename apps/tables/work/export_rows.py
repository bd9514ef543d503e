"""Every row of a filter as one file: Parquet, or XLSX for spreadsheets."""

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from apps.accounts.models import User
from apps.jobs import kinds
from apps.jobs.models import Job
from apps.jobs.results import job_file, keep_rows, result_path
from apps.jobs.running.tracking import TrackedJob
from apps.jobs.waiting import wait_for
from apps.tables.errors import ResultTooLargeError
from apps.tables.models import Table
from apps.tables.models.subjects import table_of
from apps.tables.storage.opening import open_table, roots_of_server
from apps.tables.work.preview import MAX_EXPORT_BYTES
from apps.tables.work.table_look import TableLook
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.exports.errors import MAX_SHEET_ROWS, SheetRowsError
from deltaweb.exports.xlsx import write_xlsx

PARQUET: Final = "parquet"
XLSX: Final = "xlsx"
_SUFFIX: Final = ".read.arrow"  # the rows, until the file is written

Report: TypeAlias = Callable[[int], None]
WriteFile: TypeAlias = Callable[[Path, pa.Table, Report], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """Which rows are written.

    Attributes:
        columns: Names; None is every column.
        predicate: A condition in SQL, or "".
        sort: A column, with - in front to reverse, or "".
        form: A key of `FORMS`.
    """

    version: int
    columns: tuple[str, ...] | None = None
    predicate: str = ""
    time_zone: str = UTC_ZONE
    sort: str = ""
    form: str = PARQUET


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """The number of rows in the file, and its bytes."""

    rows: int
    size_bytes: int


def export_rows(job: TrackedJob, asked: Export) -> Exported:
    """Read every row, then write the file beside and rename it.

    What the file cannot hold is refused before it is begun.
    """
    table = table_of(job)
    opened = open_table(table, roots=roots_of_server(), time_zone=asked.time_zone)
    scan = opened.snapshot(asked.version).scan(_read(asked), asked.predicate or None)
    report = partial(job.progress, unit="rows")
    mark = secrets.token_hex(4)  # another worker may be at the same job
    suffix = f".{mark}{_SUFFIX}"
    with _kept(job.id, suffix, scan.schema, _bounded(scan, asked, report)) as read:
        rows = _sorted(read, asked.sort).select(asked.columns or read.column_names)
        job.step("Writing the file")
        path = result_path(job.id, f".{asked.form}")
        beside = path.with_name(f"{job.id}.{mark}.{asked.form}.part")
        try:
            FORMS[asked.form](beside, rows, report)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
        return Exported(rows=rows.num_rows, size_bytes=path.stat().st_size)


def _read(asked: Export) -> tuple[str, ...] | None:
    """Return the columns that are read: those of the file and the one of the order."""
    name = asked.sort.removeprefix("-")
    if asked.columns is None or not name or name in asked.columns:
        return asked.columns
    return (*asked.columns, name)


def _bounded(
    scan: Iterable[pa.RecordBatch], asked: Export, report: Report
) -> Iterator[pa.RecordBatch]:
    """Yield batches until they are more than a file may hold."""
    num_rows = size_bytes = 0
    for batch in scan:
        num_rows += batch.num_rows
        size_bytes += batch.nbytes
        if size_bytes > MAX_EXPORT_BYTES:
            raise ResultTooLargeError(rows=num_rows, max_bytes=MAX_EXPORT_BYTES)
        if asked.form == XLSX and num_rows >= MAX_SHEET_ROWS:
            raise SheetRowsError(rows=num_rows)
        report(num_rows)
        yield batch


@contextmanager
def _kept(
    job_id: object, suffix: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.Table]:
    """Give the rows, mapped from a file that is removed afterwards."""
    path = result_path(job_id, suffix)
    try:
        keep_rows(job_id, schema, batches, suffix=suffix)
        with pa.memory_map(str(path)) as source:
            yield pa.ipc.open_file(source).read_all()
    finally:
        path.unlink(missing_ok=True)


def _sorted(rows: pa.Table, sort: str) -> pa.Table:
    name = sort.removeprefix("-")
    if name not in rows.column_names:
        return rows
    order = "descending" if sort.startswith("-") else "ascending"
    try:
        return rows.take(pc.sort_indices(rows, [(name, order)]))
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError, pa.ArrowInvalid):
        return rows  # A nested column has no order.


def _write_parquet(path: Path, rows: pa.Table, report: Report) -> None:
    pq.write_table(rows, path, compression="zstd")
    report(rows.num_rows)


def _write_sheet(path: Path, rows: pa.Table, report: Report) -> None:
    write_xlsx(path, rows, on_progress=report)


FORMS: Final[Mapping[str, WriteFile]] = {PARQUET: _write_parquet, XLSX: _write_sheet}


def _title(table: Table, asked: Export) -> str:
    form = "XLSX" if asked.form == XLSX else "Parquet"
    return f"Export {table.full_name} at version {asked.version} as {form}"


EXPORT: Final = kinds.register(
    TableLook(
        name="tables.export_rows",
        words="Export rows",
        parameters=Export,
        result=Exported,
        title=_title,
        first_step="Reading rows",
        is_apart=True,
        is_long=lambda _asked: True,
        run=export_rows,
    )
)


def export_file(
    table: Table,
    asked: Export,
    *,
    requested_by: User,
    now: datetime,
    wait_s: float | None = None,
) -> tuple[Job, Path | None]:
    """Return the job that writes a file, and the file once it is there.

    The job is requested if needed, and waited for.

    Args:
        wait_s: How long it is waited for; None as long as downloads are.
    """
    suffix = f".{asked.form}"
    job = EXPORT.newest(table, asked)
    is_lost = job is not None and job.state == Job.State.DONE
    if job is None or (is_lost and job_file(job, suffix) is None):
        job = EXPORT.start(table, asked, requested_by=requested_by, now=now, lost=job)
    wait_for(job, wait_s)
    return job, job_file(job, suffix)
