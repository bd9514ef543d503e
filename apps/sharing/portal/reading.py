"""The jobs that read the rows of a shared table for the page of a recipient."""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc
from django.db import transaction
from django.utils import timezone

from apps.jobs import kinds
from apps.jobs.kind import JobKind, hashed_key, to_json
from apps.jobs.models import Job
from apps.jobs.results import JobRows, job_rows, keep_rows
from apps.jobs.running.tracking import TrackedJob
from apps.jobs.services import enqueue
from apps.jobs.waiting import wait_a_glance, wait_for
from apps.pages.page_json import IfKnown
from apps.sharing.access.browser import open_table
from apps.sharing.access.grants.offered import offered_version
from apps.sharing.access.grants.rules import rule_for
from apps.sharing.access.waited_queries import READ_ROWS
from apps.sharing.answers.changed_rows import (
    ChangedRows,
    changed_rows,
    with_values_before,
)
from apps.sharing.answers.opening import open_shared, terms_of
from apps.sharing.answers.rows import OfferedRows, offered_rows
from apps.sharing.answers.versions import open_version
from apps.sharing.api.errors import failure_of
from apps.sharing.errors import NotGrantedError, TooManyRowsError
from apps.sharing.models import Recipient, SharedTable
from apps.sharing.portal.conditions import compiled
from apps.sharing.portal.files import bytes_of_a_row, write_file
from deltaweb.delta.errors import DeltaError
from deltaweb.exports.errors import SheetError
from deltaweb.sharing.errors import TooManyRequestsError
from deltaweb.sharing.table_query import TableQuery

logger = logging.getLogger(__name__)

MAX_PAGE_BYTES: Final = 64 << 20  # of the rows of one block; wide rows end it early
MAX_SORTED_BYTES: Final = 256 << 20  # of all rows that are sorted
MAX_FILE_BYTES: Final = 1 << 30  # of the rows of a download
DOWNLOAD_WAIT_S: Final = 3.0  # then the page shows how far the file is
BEGUN_STAYS: Final = timedelta(hours=1)  # for a file of an earlier version
MAX_ACTIVE: Final = 8  # jobs of one recipient at the same time
TOO_LARGE: Final = "These are too many rows to sort here. Add a condition."
FAILED: Final = (
    "The rows could not be read. Try again in a minute, or ask the provider."
)
FAILED_STAYS: Final = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRows:
    """Which rows of a shared table are read, for whom.

    Attributes:
        shared_table: The id of the shared table.
        recipient: The id of the recipient.
        terms: The terms that the table was shared on when this was requested.
        columns: Names, in their order. The last one of changed rows is that of the
            values before an update.
        condition: In SQL, over the columns that the recipient sees; "" for every row.
        sort: A column, with - in front for the reverse order; "" for the table's order.
        limit: The number of rows; None for every one.
        changes_from: The first version whose changed rows are read, up to `version`;
            None to read the rows of the version.
        file: What is written besides the rows: `xlsx`, `parquet` or "" for nothing.
    """

    shared_table: str
    recipient: str
    terms: tuple[str, ...]
    version: int
    columns: tuple[str, ...]
    condition: str = ""
    sort: str = ""
    limit: int | None = None
    offset: int = 0
    file: str = ""
    changes_from: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsRead:
    """What a reading of rows found, apart from them.

    Attributes:
        rows: Their number.
        more: Whether others follow.
        size_bytes: Of the data files that were opened.
        num_files: The number of these files.
        row_bytes: The bytes of one row in a file, by format, as some rows have them.
        refusal: Why there are no rows, in a sentence for the recipient.
    """

    rows: IfKnown[int | None] = None
    more: IfKnown[bool | None] = None
    size_bytes: IfKnown[int | None] = None
    num_files: IfKnown[int | None] = None
    row_bytes: IfKnown[dict[str, float] | None] = None
    refusal: IfKnown[str | None] = None


def read_rows(job: TrackedJob, asked: ReadRows) -> RowsRead:
    """Read rows and keep them as the rows of the job."""
    try:
        return _read(job, asked)
    except (TooManyRowsError, SheetError) as error:
        return RowsRead(refusal=f"{error.message} {error.hint}".strip())
    except DeltaError as error:
        # What the storage, the log or a rule says of itself stays in the server's log.
        logger.info("Rows of %s are not read: %s", asked.shared_table, error)
        return RowsRead(refusal=failure_of(error).message or FAILED)


def rows_job(
    asked: ReadRows, *, now: datetime, waits: bool = False
) -> tuple[Job, JobRows[RowsRead] | None]:
    """Return the job that reads rows, and its result once it is done.

    What was read before is not read again while the terms and the version are the
    same.

    Args:
        waits: Whether to wait a while, as a download does.

    Raises:
        TooManyRequestsError: If the recipient has too many under way.
    """
    key = hashed_key(READ_ROWS, to_json(asked))
    jobs = Job.objects.filter(kind=READ_ROWS, key=key)
    job = jobs.defer("log", "error_detail").order_by("-created_at").first()
    if job is not None and not job.is_active and _is_lost(job, now=now):
        jobs.filter(id=job.id).update(key="")
        job = None
    if job is None:
        recipients = Recipient.objects.select_for_update(no_key=True)
        with transaction.atomic():
            # Of requests at once each finds what those before it have begun.
            recipients.filter(id=asked.recipient).first()
            check_active(asked.recipient)
            job = enqueue(
                kind=READ_ROWS,
                # It has no subject, and names no recipient: only administrators see it.
                title="Read rows for a recipient in the browser",
                parameters=to_json(asked),
                key=key,
                now=now,
            )
    if waits:
        wait_for(job, DOWNLOAD_WAIT_S)
    else:
        wait_a_glance(job)
    return job, job_rows(ROWS, job)


def known_rows(asked: ReadRows) -> tuple[Job | None, JobRows[RowsRead] | None]:
    """Return the job that reads rows and its result, without beginning it."""
    key = hashed_key(READ_ROWS, to_json(asked))
    job = Job.objects.filter(kind=READ_ROWS, key=key).order_by("-created_at").first()
    return job, None if job is None else job_rows(ROWS, job)


def begun_rows(
    job_id: str, asked: ReadRows, *, now: datetime
) -> tuple[Job, JobRows[RowsRead] | None] | None:
    """Return a reading that was begun, perhaps of an earlier version; None if gone.

    Args:
        job_id: What the address or the form names it by.
        asked: The same reading of the newest version, on the terms of now.
    """
    try:
        begun_id = UUID(job_id)
    except ValueError:
        return None
    since = now - BEGUN_STAYS
    jobs = Job.objects.filter(kind=READ_ROWS, id=begun_id, created_at__gt=since)
    if (job := jobs.first()) is None:
        return None
    begun = ROWS.asked(job)
    if replace(begun, version=asked.version, columns=asked.columns) != asked:
        return None
    return job, job_rows(ROWS, job)


def refusal_of(job: Job) -> str:
    """Return why a job gives no rows, in a sentence for the recipient; "" if it may."""
    found = ROWS.found(job)
    if found is not None and found.refusal:
        return found.refusal
    if job.state in {Job.State.FAILED, Job.State.CANCELLED}:
        return FAILED
    return ""


def check_active(recipient_id: str) -> None:
    """Refuse a recipient to begin more at the same time than it may."""
    active = Job.objects.active().filter(
        kind=READ_ROWS, parameters__recipient=recipient_id
    )
    if active.count() >= MAX_ACTIVE:
        raise TooManyRequestsError(wait_s=5)


def _is_lost(job: Job, *, now: datetime) -> bool:
    """Whether a job that has ended stands for its work no longer.

    One that failed does for a while, so that a page that waits does not repeat it.
    """
    if job.state in {Job.State.FAILED, Job.State.CANCELLED}:
        return job.finished_at is None or job.finished_at < now - FAILED_STAYS
    found = ROWS.found(job)
    return found is None or (not found.refusal and job_rows(ROWS, job) is None)


def _read(job: TrackedJob, asked: ReadRows) -> RowsRead:
    job.step("Reading rows")
    shared = _granted(asked)
    recipient = Recipient.objects.get(id=asked.recipient)
    table = open_shared(shared)
    whole = open_version(shared, table, TableQuery(version=asked.version))
    rule = rule_for(shared, recipient)
    opened = offered_version(shared, rule, whole, now=timezone.now())
    sorted_by = asked.sort.removeprefix("-")
    rows: OfferedRows | ChangedRows
    if asked.changes_from is None:
        condition = compiled(asked.condition, opened.schema)
        rows = offered_rows(shared, opened, columns=asked.columns, condition=condition)
    else:
        first, now = asked.changes_from, timezone.now()
        rows = changed_rows(shared, rule, table, opened, first=first, now=now)
    batches, schema = _reported(job, rows), rows.schema
    if sorted_by:
        found = _sorted(batches, rows.schema, asked.sort)
        if found is None:
            return RowsRead(refusal=TOO_LARGE)
        if asked.changes_from is not None:
            hides = bool(rule.conditions)
            found = with_values_before(found, asked.columns[-1], are_some_hidden=hides)
        batches, schema = iter(found.to_batches()), found.schema
    more, row_bytes = False, None
    if asked.limit is None:
        counted = _Counted(batches)
        keep_rows(job.id, schema, counted)
        num_rows = counted.rows
        if asked.file:
            job.step("Writing the file")
            write_file(job.id, asked.file, lambda rows: job.progress(rows, unit="rows"))
    else:
        kept, more = _window(batches, asked.offset, asked.limit)
        keep_rows(job.id, schema, kept)
        num_rows = sum(batch.num_rows for batch in kept)
        if asked.changes_from is None:
            row_bytes = bytes_of_a_row(pa.Table.from_batches(kept, schema))
    _granted(asked)
    return RowsRead(
        rows=num_rows,
        more=more,
        size_bytes=rows.size_bytes,
        num_files=rows.num_files,
        row_bytes=row_bytes,
    )


def _granted(asked: ReadRows) -> SharedTable:
    """Return the table, if it is open still, on the same terms."""
    tables = SharedTable.objects.select_related("share", "table")
    shared = tables.filter(id=asked.shared_table).first()
    recipient = Recipient.objects.filter(id=asked.recipient).first()
    if shared is None or recipient is None:
        raise NotGrantedError(kind="table", name=asked.shared_table)
    shared = open_table(recipient, shared.share.name, shared.schema, shared.name)
    if terms_of(shared, rule_for(shared, recipient)) != asked.terms:
        raise NotGrantedError(kind="table", name=shared.full_name)
    return shared


def _reported(
    job: TrackedJob, rows: OfferedRows | ChangedRows
) -> Iterator[pa.RecordBatch]:
    read = 0
    for batch in rows:
        yield batch
        read += batch.num_rows
        job.progress(read, unit="rows")


@dataclass(slots=True)
class _Counted:
    """The rows of a download, up to `MAX_FILE_BYTES`."""

    batches: Iterable[pa.RecordBatch]
    rows: int = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        size_bytes = 0
        for batch in self.batches:
            self.rows += batch.num_rows
            size_bytes += batch.nbytes
            if size_bytes > MAX_FILE_BYTES:
                raise TooManyRowsError(max_bytes=MAX_FILE_BYTES)
            yield batch


def _sorted(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, sort: str
) -> pa.Table | None:
    """Return all rows in an order; None if they are too many."""
    kept, size_bytes = [], 0
    for batch in batches:
        kept.append(batch)
        size_bytes += batch.nbytes
        if size_bytes > MAX_SORTED_BYTES:
            return None
    table = pa.Table.from_batches(kept, schema)
    order = "descending" if sort.startswith("-") else "ascending"
    return table.take(pc.sort_indices(table, [(sort.removeprefix("-"), order)]))


def _window(
    batches: Iterable[pa.RecordBatch], offset: int, limit: int
) -> tuple[list[pa.RecordBatch], bool]:
    """Return the rows from `offset`, `limit` at most, and whether others follow."""
    kept: list[pa.RecordBatch] = []
    seen = passed = size_bytes = 0
    for batch in batches:
        start = max(offset - seen, 0)
        seen += batch.num_rows
        if start >= batch.num_rows:
            continue
        rest = batch.slice(start)
        room = limit - passed
        if rest.num_rows > room or size_bytes > MAX_PAGE_BYTES:
            kept.append(rest.slice(0, room))
            return [part for part in kept if part.num_rows], True
        kept.append(rest)
        passed += rest.num_rows
        size_bytes += rest.nbytes
    return kept, False


def _is_long(asked: object) -> bool:
    return isinstance(asked, dict) and asked.get("limit") is None


ROWS: Final = kinds.register(
    JobKind(
        name=READ_ROWS,
        words="Read rows for a recipient",
        parameters=ReadRows,
        result=RowsRead,
        run=read_rows,
        is_apart=True,
        is_look=True,
        is_long=_is_long,
        is_for_admins=True,
    )
)
