"""Version, metadata and files of one shared table.

Source: delta_sharing_protocol.md, "Query Table Version", "Query Table Metadata" and
"Read Data from a Table".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from apps.sharing.access.grants.rules import rule_for
from apps.sharing.answers.opening import check_history, open_shared
from apps.sharing.answers.paging import SnapshotStart, paging_of
from apps.sharing.answers.row_count import CountedFiles, RowCount
from apps.sharing.answers.signed_lines import (
    SigningPlan,
    open_plan,
    signed_lines,
)
from apps.sharing.answers.vacuumed import check_files
from apps.sharing.answers.versions import (
    format_of,
    head_lines,
    open_asked,
    open_page,
    open_shared_version,
    open_version,
    page_mark,
)
from apps.sharing.models import Recipient, SharedTable
from deltaweb.conditions.hints import SkippedHint, parse_hints
from deltaweb.delta.log.commits.times import to_ms
from deltaweb.index.query.file_pages import FilePage, Wanted, first_place, page_of
from deltaweb.index.query.shared_version import SharedVersion
from deltaweb.sharing.capabilities import Capabilities
from deltaweb.sharing.errors import (
    FileOutsideTableError,
    ParameterInvalidError,
    TableMisreadError,
)
from deltaweb.sharing.response_format import ResponseFormat, plain_format
from deltaweb.sharing.table_query import TableQuery
from deltaweb.sharing.wire.lines import EndAction
from deltaweb.sharing.wire.partition_values import instant_columns
from deltaweb.table import DeltaTable


@dataclass(frozen=True, slots=True)
class MetadataAnswer:
    """The two lines of a table's metadata, and what they are of."""

    version: int
    lines: bytes
    response_format: ResponseFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesAnswer:
    """The files of one version, as lines that are made while they are sent.

    Attributes:
        lines: Chunks of whole lines; the first one is there at once.
        total_files: How many the version has, as far as the share goes.
        skipped_hints: Hints that select nothing, and why.
        end: What the last line says; None where there is no such line.
        rows: Counts the rows of the files while they are listed; None of changes.
        last_version: The last version that is read, where that is another one.
    """

    version: int
    response_format: ResponseFormat
    lines: Iterator[bytes]
    num_files: int
    total_files: int
    size_bytes: int
    skipped_hints: Sequence[SkippedHint]
    end: EndAction | None = None
    rows: RowCount | None = None
    last_version: int | None = None


# === Versions ===


def table_version(
    shared: SharedTable,
    recipient: Recipient,
    *,
    now: datetime,
    starting_timestamp: datetime | None = None,
) -> int:
    """Return the newest version, or the earliest at or after a time.

    Where only a part of the table is shared, the newest is the newest that is ready. A
    time before the first version that is shared means that one.
    """
    table = open_shared(shared)
    if starting_timestamp is None:
        rule = rule_for(shared, recipient)
        if rule.is_stored:
            return table.latest_version()
        return open_shared_version(shared, table, TableQuery(), rule, now=now).version
    check_history(shared)
    return _earliest_version(table, shared, starting_timestamp)


def _earliest_version(table: DeltaTable, shared: SharedTable, moment: datetime) -> int:
    newest = open_version(shared, table, TableQuery())
    times = table.commit_times()
    # Times of versions are whole milliseconds: the first one that is not before.
    time_ms = to_ms(moment) + bool(moment.microsecond % 1000)
    version = times.version_from(time_ms)
    if version is None:
        raise ParameterInvalidError(
            name="startingTimestamp",
            reason="it is later than the newest version",
            hint="Choose an earlier time.",
        )
    first_readable = table.readable_versions()[0].first
    # The newest version is shared in any case, though history may begin after it.
    first_shared = min(shared.first_version, newest.version)
    return max(version, first_readable, first_shared)


# === Metadata ===


def table_metadata(  # noqa: PLR0913 (who asks, and for what)
    shared: SharedTable,
    recipient: Recipient,
    *,
    now: datetime,
    capabilities: Capabilities,
    version: int | None = None,
    timestamp: datetime | None = None,
) -> MetadataAnswer:
    """Return the metadata of a version, the newest one where none is named.

    A client that would misread the version is told when it asks for files: metadata
    alone misleads nobody.
    """
    query = TableQuery(version=version, timestamp=timestamp)
    rule = rule_for(shared, recipient)
    opened = open_shared_version(shared, open_shared(shared), query, rule, now=now)
    try:
        chosen = format_of(shared, opened, capabilities)
    except TableMisreadError:
        chosen = plain_format(capabilities, opened.protocol)
    lines = head_lines(shared, opened, chosen, rule)
    return MetadataAnswer(opened.version, lines, chosen)


# === Files ===


def table_files(
    shared: SharedTable,
    query: TableQuery,
    *,
    capabilities: Capabilities,
    signing: SigningPlan,
) -> FilesAnswer:
    """Return the files that answer a query, or a page of them."""
    table = open_shared(shared)
    rule, now = rule_for(shared, signing.token.recipient), signing.now
    paging = paging_of(shared, rule, query, capabilities=capabilities, signing=signing)
    start, refreshed = paging.start(SnapshotStart), None
    if start is None:
        refreshed = paging.refreshed()
        opened = open_asked(shared, table, query, rule, refreshed, now=now)
    else:
        opened = open_page(shared, table, start, rule, now=now)
    chosen = format_of(shared, opened, capabilities)
    head = head_lines(shared, opened, chosen, rule)
    mark = page_mark(opened, head)
    paging.check_head(start, mark)
    hints = parse_hints(
        predicate_hints=list(query.predicate_hints),
        json_predicate_hints=query.json_predicate_hints,
        schema=opened.schema,
    )
    wanted = Wanted(
        predicates=hints.predicates,
        limit=query.limit_hint if start is None else start.limit,
        misses=hints.misses,
        max_files=query.page.max_files,
    )
    page = _select(opened, start, wanted, is_paged=query.page.is_paged)
    selection = page.selection
    if selection.outside is not None:
        raise FileOutsideTableError(table=shared.full_name, path=selection.outside)
    check_files(shared.table, opened.version, selection)
    signers = open_plan(shared, signing, rule)
    rows = RowCount()
    lines = signed_lines(
        CountedFiles(selection, rows),
        chosen,
        signers=signers,
        instants=instant_columns(opened.schema, opened.metadata.partition_columns),
        named=opened if query.names_version else None,
    )
    # The first files are signed before the answer begins, so that what is wrong with
    # all of them becomes its status.
    first = next(lines, b"")
    following = None
    if page.next_place is not None:
        following = SnapshotStart(
            version=opened.version,
            place=page.next_place,
            limit=page.limit,
            head=mark,
        )
    is_refreshable = start is None and not query.names_version
    return FilesAnswer(
        version=opened.version,
        response_format=chosen,
        lines=chain([head + first], lines),
        num_files=selection.num_files,
        total_files=selection.total_files,
        size_bytes=selection.size_bytes,
        rows=rows,
        skipped_hints=hints.skipped,
        end=paging.end(
            following,
            refreshes=opened.version if is_refreshable else None,
            refreshed=refreshed,
            expires_at=signers.expires_at if selection.num_files else None,
        ),
    )


def _select(
    opened: SharedVersion,
    start: SnapshotStart | None,
    wanted: Wanted,
    *,
    is_paged: bool,
) -> FilePage:
    if is_paged:
        place = first_place(opened) if start is None else start.place
        return page_of(opened, place, wanted)
    selection = opened.select(
        predicates=wanted.predicates,
        limit=wanted.limit,
        misses=wanted.misses,
    )
    return FilePage(selection, None, None)
