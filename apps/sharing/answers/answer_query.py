"""What a worker does for a query that is answered later: it finds the files.

Source: delta_sharing_protocol_2026.md, "asyncQuery".
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from functools import cached_property
from typing import Any, Final

import pyarrow as pa
from django.utils import timezone

from apps.jobs import kinds
from apps.jobs.kind import JobKind, Queue
from apps.jobs.results import keep_rows
from apps.jobs.running.tracking import TrackedJob
from apps.pages.page_json import IfKnown, Spread
from apps.sharing.access.grants.rules import rule_for
from apps.sharing.access.waited_queries import ANSWER_QUERY
from apps.sharing.answers.opening import open_shared, terms_of
from apps.sharing.answers.vacuumed import check_files
from apps.sharing.answers.versions import open_shared_version, open_version
from apps.sharing.errors import NotGrantedError
from apps.sharing.models import Recipient, SharedTable
from apps.tables.work.answer_index import answer_index
from deltaweb.conditions.hints import parse_hints
from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.log.commits.times import to_datetime, to_ms
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import StructType
from deltaweb.index.files.source import stored_metadata
from deltaweb.index.query.file_selection import LISTED_SCHEMA, FileSelection
from deltaweb.index.query.shared_version import SharedVersion
from deltaweb.sharing.errors import FileOutsideTableError, SharingError
from deltaweb.sharing.table_query import TableQuery


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerQuery:
    """A query that is answered later.

    Attributes:
        terms: On what terms it was shared when it was asked.
        predicate_hints: As `TableQuery` has them.
        version: The version; the newest for None.
        timestamp: Or the version of a time, in ISO form; "" for none.
        is_named: Whether the recipient has named the version, so that lines say it.
    """

    shared_table: str
    recipient: str
    terms: tuple[str, ...]
    predicate_hints: tuple[str, ...] = ()
    json_predicate_hints: str | None = None
    limit_hint: int | None = None
    version: int | None = None
    timestamp: str = ""
    is_named: bool = False

    def query(self) -> TableQuery:
        """Return which version is asked for."""
        moment = datetime.fromisoformat(self.timestamp) if self.timestamp else None
        return TableQuery(version=self.version, timestamp=moment)


@dataclass(frozen=True, kw_only=True)
class KeptVersion:
    """What a job has found out about a version, beside its files.

    Attributes:
        timestamp_ms: When the version was made; None where nobody asks for that.
    """

    version: int
    protocol: Protocol
    metadata: Metadata
    has_deletion_vectors: bool
    num_files: int
    size_bytes: int
    timestamp_ms: int | None

    @cached_property
    def schema(self) -> StructType:
        return table_schema(self.protocol, self.metadata)

    @property
    def timestamp(self) -> datetime:
        """Time of the version's commit, where the version was named."""
        return to_datetime(self.timestamp_ms or 0)

    def describe(self) -> dict[str, Any]:
        """Return the same as JSON."""
        return asdict(self)

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "KeptVersion":
        """Read what a job has left."""
        values = {field.name: facts[field.name] for field in fields(cls)}
        protocol = Protocol(**values.pop("protocol"))
        metadata = stored_metadata(values.pop("metadata"))
        return cls(protocol=protocol, metadata=metadata, **values)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredQuery:
    """What a job found out about a query.

    Attributes:
        version: The version; None where the query is refused.
        refusal: Why the recipient gets no answer, in a text for it; None otherwise.
    """

    version: IfKnown[Spread[KeptVersion | None]] = None
    refusal: IfKnown[str | None] = None

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> "AnsweredQuery":
        """Read what a job has left."""
        if "refusal" in values:
            return cls(refusal=values["refusal"])
        return cls(version=KeptVersion.of(values))


def answer_query(job: TrackedJob, asked: AnswerQuery) -> AnsweredQuery:
    """Find the files of a query and keep them as the job's rows."""
    try:
        return AnsweredQuery(version=_answer(job, asked))
    except SharingError as error:
        return AnsweredQuery(refusal=f"{error.message} {error.hint}")


def _answer(job: TrackedJob, asked: AnswerQuery) -> KeptVersion:
    shared = _granted(asked)
    job.step("Opening the table")
    with ExitStack() as stack:
        opened = _open(job, shared, asked, stack)
        selection = _select(job, shared, asked, opened)
        job.step("Listing the files", total=selection.num_files, unit="files")
        keep_rows(job.id, LISTED_SCHEMA, _reported(job, selection))
        _granted(asked)
        return KeptVersion(
            version=opened.version,
            protocol=opened.protocol,
            metadata=opened.metadata,
            has_deletion_vectors=opened.has_deletion_vectors,
            num_files=opened.num_files,
            size_bytes=opened.size_bytes,
            timestamp_ms=to_ms(opened.timestamp) if asked.is_named else None,
        )


def _granted(asked: AnswerQuery) -> SharedTable:
    """Return the table, if it is granted still, whole, and on the same terms."""
    tables = SharedTable.objects.select_related("share", "table")
    shared = tables.filter(
        id=asked.shared_table, share__grants__recipient_id=asked.recipient
    ).first()
    recipient = Recipient.objects.filter(id=asked.recipient).first()
    if (
        shared is None
        or recipient is None
        or terms_of(shared, rule := rule_for(shared, recipient)) != asked.terms
        or not rule.is_stored
    ):
        raise NotGrantedError(kind="table", name=asked.shared_table)
    return shared


def _open(
    job: TrackedJob, shared: SharedTable, asked: AnswerQuery, stack: ExitStack
) -> SharedVersion:
    """Open the version that is asked for."""
    table, query = open_shared(shared), asked.query()
    if asked.is_named:
        rule = rule_for(shared, Recipient.objects.get(id=asked.recipient))
        return open_shared_version(shared, table, query, rule, now=timezone.now())
    index = None
    if asked.version is None:
        index = stack.enter_context(answer_index(shared.table, table, job))
    return open_version(shared, table, query, index=index)


def _select(
    job: TrackedJob, shared: SharedTable, asked: AnswerQuery, opened: SharedVersion
) -> FileSelection:
    """Return the files that answer the query."""
    job.step("Choosing the files")
    hints = parse_hints(
        predicate_hints=list(asked.predicate_hints),
        json_predicate_hints=asked.json_predicate_hints,
        schema=opened.schema,
    )
    selection = opened.select(
        predicates=hints.predicates,
        limit=asked.limit_hint,
        misses=hints.misses,
    )
    if selection.outside is not None:
        raise FileOutsideTableError(table=shared.full_name, path=selection.outside)
    check_files(shared.table, opened.version, selection)
    return selection


def _reported(job: TrackedJob, selection: FileSelection) -> Iterator[pa.RecordBatch]:
    listed = 0
    for batch in selection.batches():
        yield batch
        listed += batch.num_rows
        job.progress(listed, total=selection.num_files, unit="files")


ANSWER: Final = kinds.register(
    JobKind(
        name=ANSWER_QUERY,
        words="Answer a query of a recipient",
        parameters=AnswerQuery,
        result=AnsweredQuery,
        read=AnsweredQuery.read,
        run=answer_query,
        queue=Queue.SPARK,  # of a large log
        is_apart=True,
        is_for_admins=True,
    )
)
