"""Queries that are answered later: asked for, looked after, and read in pages.

The answer is a job's: the files of one version, kept for an hour. URLs are signed when
a page is read, and the recipient's grant is asked for at every request; a grant that
ends cancels the jobs that are under way.

Source: delta_sharing_protocol_2026.md, "asyncQuery" and "Get Query Info".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, Final
from uuid import UUID

import pyarrow as pa

from apps.jobs.kind import hashed_key, to_json
from apps.jobs.models import Job
from apps.jobs.results import job_table
from apps.jobs.services import enqueue
from apps.sharing.access.grants.rules import TableRule, rule_for
from apps.sharing.answers.answer_query import ANSWER, AnswerQuery
from apps.sharing.answers.opening import terms_of
from apps.sharing.answers.paging import paging_of
from apps.sharing.answers.row_count import CountedFiles, RowCount
from apps.sharing.answers.signed_lines import (
    SigningPlan,
    open_plan,
    signed_lines,
)
from apps.sharing.answers.tables import FilesAnswer
from apps.sharing.answers.versions import format_of, head_lines
from apps.sharing.models import Recipient, SharedTable
from deltaweb.delta.log.commits.times import to_ms
from deltaweb.delta.values.whole import exact_sum
from deltaweb.index.query.file_selection import ROWS_A_BATCH
from deltaweb.sharing.capabilities import Capabilities
from deltaweb.sharing.errors import QueryNotFoundError, QueryTokenEndedError
from deltaweb.sharing.page_token import PageScope
from deltaweb.sharing.query_tokens import TokenMaker, head_digest, query_digest
from deltaweb.sharing.table_query import PageAsked, TableQuery
from deltaweb.sharing.wire.lines import EndAction
from deltaweb.sharing.wire.partition_values import instant_columns

KEPT: Final = timedelta(hours=1)
"""How long an answer is kept after it was found."""
FAILED: Final = "The table could not be read. Ask the provider of the share."
CANCELLED: Final = "The query was cancelled. Send it again."


@dataclass(frozen=True, slots=True)
class QueryStatus:
    """How far a query is whose answer is not there.

    Attributes:
        query_id: What the query is asked after by.
        error_message: Why there will be none; None while there may be one.
    """

    query_id: str
    error_message: str | None = None

    def body(self) -> dict[str, Any]:
        """Return the line of the answer."""
        status: dict[str, Any] = {"queryId": self.query_id, "status": "pending"}
        if self.error_message is not None:
            status |= {"status": "failed", "errorMessage": self.error_message}
        return {"queryStatus": status}


def submit_query(
    shared: SharedTable,
    query: TableQuery,
    *,
    capabilities: Capabilities,
    signing: SigningPlan,
) -> QueryStatus:
    """Queue a query; one with the same key and the same parameters is found again."""
    recipient = signing.token.recipient
    rule = rule_for(shared, recipient)
    paging = paging_of(shared, rule, query, capabilities=capabilities, signing=signing)
    refreshed = paging.refreshed()
    asked = AnswerQuery(
        shared_table=str(shared.id),
        recipient=str(recipient.id),
        terms=terms_of(shared, rule),
        predicate_hints=query.predicate_hints,
        json_predicate_hints=query.json_predicate_hints,
        limit_hint=query.limit_hint,
        version=query.version if refreshed is None else refreshed.version,
        timestamp="" if query.timestamp is None else query.timestamp.isoformat(),
        is_named=query.names_version,
    )
    key = ""
    if query.idempotency_key:
        parts = (asked.recipient, asked.terms, query.idempotency_key)
        key = hashed_key(ANSWER.name, *parts, query_digest(query))
        _let_go(key, signing.now)
    job = enqueue(
        kind=ANSWER.name,
        # It names no recipient, and has no subject, by which viewers would see it: who
        # reads a table is for administrators to know.
        title=f"Answer a query on {shared.table.full_name}",
        parameters=to_json(asked),
        key=key,
        now=signing.now,
        reuse=True,
    )
    return QueryStatus(str(job.id))


def may_wait(shared: SharedTable, query: TableQuery, recipient: Recipient) -> bool:
    """Tell whether a query can be answered later.

    Changes and pages come at once, and so does a table of which a part is shared, or
    plain files: these are ready, or it is not offered.
    """
    is_first = query.changes is None and not query.page.page_token
    return is_first and rule_for(shared, recipient).is_stored


def read_query(
    shared: SharedTable,
    query_id: str,
    page: PageAsked,
    *,
    capabilities: Capabilities,
    signing: SigningPlan,
) -> FilesAnswer | QueryStatus:
    """Return a page of a query's answer, or how far it is."""
    rule = rule_for(shared, signing.token.recipient)
    job = _job_of(shared, rule, query_id, signing)
    if job.is_active:
        return QueryStatus(query_id)
    if job.state != Job.State.DONE:
        was_cancelled = job.state == Job.State.CANCELLED
        return QueryStatus(query_id, CANCELLED if was_cancelled else FAILED)
    found, kept = ANSWER.found(job), job_table(job)
    if found is not None and found.refusal is not None:
        return QueryStatus(query_id, found.refusal)
    if kept is None or found is None or found.version is None:
        raise QueryNotFoundError(query_id=query_id)
    version = found.version
    chosen = format_of(shared, version, capabilities)
    head = head_lines(shared, version, chosen, rule)
    tokens = _tokens(shared, job, capabilities, signing)
    first = _first_row(page, tokens, head_digest(head))
    last = min(first + (page.max_files or kept.num_rows), kept.num_rows)
    rows = kept.slice(first, last - first)
    signers = open_plan(shared, signing, rule)
    counted = RowCount()
    lines = signed_lines(
        CountedFiles(_KeptFiles(rows), counted),
        chosen,
        signers=signers,
        instants=instant_columns(version.schema, version.metadata.partition_columns),
        named=None if version.timestamp_ms is None else version,
    )
    end = None
    if page.is_paged or capabilities.wants_end:
        token = None
        if last < kept.num_rows:
            ends_at = (job.finished_at or signing.now) + KEPT
            token = tokens.make([head_digest(head), last], ends_at=ends_at)
        end = EndAction(
            next_page_token=token,
            min_expiration_ms=to_ms(signers.expires_at) if rows.num_rows else None,
        )
    return FilesAnswer(
        version=version.version,
        response_format=chosen,
        lines=chain([head + next(lines, b"")], lines),
        num_files=rows.num_rows,
        total_files=version.num_files,
        size_bytes=sum(exact_sum(part) for part in rows["size"].chunks),
        rows=counted,
        skipped_hints=(),
        end=end,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _KeptFiles:
    """Files that a job has kept, as a selection lists them."""

    rows: pa.Table

    def part_batches(
        self, *, as_kept: bool = False
    ) -> Iterator[tuple[None, pa.RecordBatch]]:
        """Yield the files, some at a time; all are the table's own."""
        del as_kept  # an index has kept nothing of them
        for batch in self.rows.to_batches():
            for first in range(0, batch.num_rows, ROWS_A_BATCH):
                yield None, batch.slice(first, ROWS_A_BATCH)


def _job_of(
    shared: SharedTable, rule: TableRule, query_id: str, signing: SigningPlan
) -> Job:
    """Return the job of a query that this recipient has sent, on this very table."""
    try:
        job = Job.objects.filter(kind=ANSWER.name, id=UUID(query_id)).first()
    except ValueError:
        job = None
    if job is None:
        raise QueryNotFoundError(query_id=query_id)
    asked = ANSWER.asked(job)
    is_theirs = (asked.recipient, asked.shared_table, asked.terms) == (
        str(signing.token.recipient_id),
        str(shared.id),
        terms_of(shared, rule),
    )
    if not is_theirs or _is_over(job, signing.now):
        raise QueryNotFoundError(query_id=query_id)
    return job


def _is_over(job: Job, now: datetime) -> bool:
    return job.finished_at is not None and job.finished_at + KEPT <= now


def _let_go(key: str, now: datetime) -> None:
    """Let an answer that is not kept any more stand for its query no longer."""
    old = Job.objects.filter(key=key, state=Job.State.DONE, finished_at__lte=now - KEPT)
    old.update(key="")


def _tokens(
    shared: SharedTable, job: Job, capabilities: Capabilities, signing: SigningPlan
) -> TokenMaker:
    names = (str(shared.id), str(job.id), *capabilities.names)
    scope = PageScope("queries", str(signing.token.recipient_id), names, giver="query")
    return TokenMaker(scope=scope, keys=signing.token_keys, now=signing.now)


def _first_row(page: PageAsked, tokens: TokenMaker, head: str) -> int:
    """Return the row that a page begins at."""
    if not page.page_token:
        return 0
    fixed, first = tokens.read(page.page_token)
    if fixed != head:
        raise QueryTokenEndedError(
            name=tokens.scope.field, reason="the table has changed meanwhile"
        )
    return int(first)
