"""What a worker reads for a page: some rows of a version, or its list of files.

Both run in process, without Spark, and leave an Arrow file below the home folder.
"""

import secrets
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from django.conf import settings
from django.utils import timezone

from apps.tables.errors import ResultTooLargeError
from apps.tables.file_checking import keep_failed_read, look_again
from apps.tables.models import Table
from apps.tables.opening import open_table, roots_of_server
from deltaweb.delta.errors import DataFileMissingError
from deltaweb.delta.partition_keys import with_logical_partitions
from deltaweb.delta.snapshot import Snapshot
from deltaweb.table import DeltaTable

MAX_ROWS: Final = 10_000
MAX_BYTES: Final = 64 << 20  # of one result; wide rows end it early
MAX_EXPORT_BYTES: Final = 1 << 30  # of every row of a filter, as a file
ROWS_A_BATCH: Final = 65_536

Report = Callable[[int], None]


def results_folder() -> Path:
    """The folder of what jobs leave as files."""
    return Path(settings.HOME) / "results"


def read_preview(
    table: Table, parameters: dict[str, Any], *, job_id: object, report: Report
) -> dict[str, Any]:
    """Read rows of a version and keep them as the job's result.

    Args:
        table: The table.
        parameters: `version`, and optionally `columns` (names), `predicate` (SQL),
            `limit` and `offset`; a limit of None is every row, batch by batch.
        job_id: Names the result.
        report: Told the count of rows passed so far; it may raise to stop.

    Returns:
        `rows`, `files_scanned`, `files_total`, and `more`: whether rows follow. Where
        a file is gone from storage, what `keep_failed_read` says, and no rows.

    Raises:
        DeltaError: If the version, the predicate or a file of it cannot be read, or
            every row is asked for and they are too many.
    """
    opened = _table(table)
    snapshot = opened.snapshot(parameters["version"])
    read = _read_every_row if parameters.get("limit", 0) is None else _read_some
    try:
        facts = read(snapshot, parameters, job_id=job_id, report=report)
    except DataFileMissingError as error:
        return keep_failed_read(
            table, snapshot, opened.store, error, now=timezone.now()
        )
    look_again(table, snapshot.version, opened.store)
    return facts


def _read_some(
    snapshot: Snapshot, parameters: dict[str, Any], *, job_id: object, report: Report
) -> dict[str, Any]:
    limit = min(int(parameters.get("limit") or 50), MAX_ROWS)
    offset = max(int(parameters.get("offset") or 0), 0)
    scan = snapshot.scan(
        parameters.get("columns"),
        parameters.get("predicate") or None,
        limit=offset + limit + 1,
    )
    batches, more = _window(scan, offset, limit, report)
    rows = sum(batch.num_rows for batch in batches)
    write_result(job_id, scan.schema, batches)
    return {
        "rows": rows,
        "files_scanned": scan.files_scanned,
        "files_total": scan.files_total,
        "more": more,
    }


def _read_every_row(
    snapshot: Snapshot, parameters: dict[str, Any], *, job_id: object, report: Report
) -> dict[str, Any]:
    scan = snapshot.scan(parameters.get("columns"), parameters.get("predicate") or None)
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

    write_result(job_id, scan.schema, bounded())
    return {
        "rows": rows,
        "files_scanned": scan.files_scanned,
        "files_total": scan.files_total,
        "more": False,
    }


def list_files(
    table: Table, version: int, *, job_id: object, report: Report
) -> dict[str, Any]:
    """List the files of a version and keep the list as the job's result.

    A version whose rows may not be read has files all the same; how many rows they
    have is then not said.

    Returns:
        `rows` and `files_total`: the count of files.

    Raises:
        DeltaError: If the log does not build the version.
    """
    snapshot = _table(table).snapshot_metadata(version)
    files = snapshot.files.select(
        ["path", "size", "modification_time", "partition_values"]
    )
    report(0)
    if snapshot.refusal is None:
        num_records = snapshot.statistics([])["num_records"]
    else:
        num_records = pa.chunked_array([pa.nulls(files.num_rows, pa.int64())])
        files = with_logical_partitions(files, snapshot.protocol, snapshot.metadata)
    files = files.append_column("num_records", num_records)
    report(files.num_rows)
    whole = files.combine_chunks()
    write_result(job_id, whole.schema, whole.to_batches(ROWS_A_BATCH))
    count = files.num_rows
    return {"rows": count, "files_scanned": 0, "files_total": count, "more": False}


def _table(table: Table) -> DeltaTable:
    return open_table(table, roots=roots_of_server())


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


def write_result(
    job_id: object, schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> None:
    """Write the result beside and rename it, so that a page sees all of it or none.

    Another worker may be at the same job, so each writes a file of its own.
    """
    folder = results_folder()
    folder.mkdir(parents=True, exist_ok=True)
    beside = folder / f"{job_id}.{secrets.token_hex(4)}.arrow.part"
    try:
        with (
            pa.OSFile(str(beside), "wb") as sink,
            pa.ipc.new_file(sink, schema) as writer,
        ):
            for batch in batches:
                writer.write_batch(batch)
        beside.replace(folder / f"{job_id}.arrow")
    finally:
        beside.unlink(missing_ok=True)
