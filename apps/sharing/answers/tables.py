"""Version, metadata and files of one shared table.

Source: delta_sharing_protocol.md, "Query Table Version", "Query Table Metadata" and
"Read Data from a Table".
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from deltaweb.conditions.hints import SkippedHint, parse_hints
from deltaweb.delta.errors import TimestampNotFoundError
from deltaweb.delta.feed.versions import has_feed
from deltaweb.delta.log.commits.times import to_ms
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.index.query.shared_version import SharedVersion
from deltaweb.sharing.capabilities import Capabilities
from deltaweb.sharing.compatibility import misreadings
from deltaweb.sharing.errors import (
    FileOutsideTableError,
    ParameterInvalidError,
    TableMisreadError,
    VersionNotReadyError,
)
from deltaweb.sharing.response_format import (
    ResponseFormat,
    choose_format,
    plain_format,
)
from deltaweb.sharing.table_query import TableQuery
from deltaweb.sharing.wire.lines import TableFacts
from deltaweb.sharing.wire.partition_values import instant_columns
from deltaweb.table import DeltaTable
from deltaweb.web.sharing.access.directories import directory_of
from deltaweb.web.sharing.access.grants.offered import offered_version, ready_versions
from deltaweb.web.sharing.access.grants.rules import TableRule, rule_for
from deltaweb.web.sharing.answers.opening import (
    check_history,
    check_start,
    not_shared_before,
    open_shared,
)
from deltaweb.web.sharing.answers.signed_lines import (
    SigningPlan,
    open_plan,
    signed_lines,
)
from deltaweb.web.sharing.answers.vacuumed import check_files
from deltaweb.web.sharing.models import Recipient, SharedTable
from deltaweb.web.tables.index.folders import index_folder

# What was read of tables, for all threads of this process.
_READER: Final = SharedTableReader()


@dataclass(frozen=True, slots=True)
class MetadataAnswer:
    """The two lines of a table's metadata, and what they are of.

    Attributes:
        version: The version.
        lines: The lines of protocol and metadata.
        response_format: Their format.
    """

    version: int
    lines: bytes
    response_format: ResponseFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesAnswer:
    """The files of one version, as lines that are made while they are sent.

    Attributes:
        version: The version.
        lines: Chunks of whole lines; the first one is there at once.
        num_files: How many files are offered.
        total_files: How many the version has, as far as the share goes.
        size_bytes: The size of the files that are offered.
        skipped_hints: Hints that select nothing, and why.
        response_format: The format of the lines.
    """

    version: int
    response_format: ResponseFormat
    lines: Iterator[bytes]
    num_files: int
    total_files: int
    size_bytes: int
    skipped_hints: Sequence[SkippedHint]


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

    Raises:
        HistoryNotSharedError: If a time is given and the table has no history here.
        ParameterInvalidError: If the time is after the newest version.
        DeltaError: If the table's log cannot be read.
    """
    table = open_shared(shared)
    if starting_timestamp is None:
        rule = rule_for(shared, recipient)
        if rule.is_whole:
            return table.latest_version()
        return _newest_offered(shared, table, rule, now=now).version
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
            reason="it is after the table's newest version",
            hint="Choose an earlier time.",
        )
    first_readable = table.readable_versions()[0].first
    # The newest version is shared in any case, though history may begin after it.
    first_shared = min(shared.start_version or 0, newest.version)
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

    Raises:
        HistoryNotSharedError: If the version is not shared.
        SchemaError: If the table's schema is missing or does not parse.
        DeltaError: If the table's log cannot be read.
    """
    query = TableQuery(version=version, timestamp=timestamp)
    rule = rule_for(shared, recipient)
    opened = _open_shared_version(shared, open_shared(shared), query, rule, now=now)
    try:
        chosen = _format(shared, opened, capabilities)
    except TableMisreadError:
        chosen = plain_format(capabilities, opened.protocol)
    lines = _head_lines(shared, opened, chosen, rule)
    return MetadataAnswer(opened.version, lines, chosen)


def _format(
    shared: SharedTable, opened: SharedVersion, capabilities: Capabilities
) -> ResponseFormat:
    """Return the format that the client reads the version in.

    Raises:
        TableMisreadError: If there is none.
        SchemaError: If the table's schema is missing or does not parse.
    """
    found = misreadings(
        opened.protocol,
        opened.metadata,
        opened.schema,
        has_deletion_vectors=opened.has_deletion_vectors,
    )
    return choose_format(
        capabilities, found, protocol=opened.protocol, table=shared.full_name
    )


def _head_lines(
    shared: SharedTable,
    opened: SharedVersion,
    response_format: ResponseFormat,
    rule: TableRule,
) -> bytes:
    """Return the lines of protocol and metadata.

    Counts are left out where only a part of the table is shared, and so are changes
    that are not offered then.
    """
    is_whole = rule.is_whole
    facts = TableFacts(
        version=opened.version,
        size_bytes=opened.size_bytes if is_whole else None,
        num_files=opened.num_files if is_whole else None,
        has_feed=shared.with_history
        and has_feed(opened.metadata)
        and rule.leaves_whole_files(opened.schema, opened.metadata.partition_columns),
        location=directory_of(shared),
    )
    return response_format.head_lines(opened.metadata, facts)


# === Files ===


def table_files(
    shared: SharedTable,
    query: TableQuery,
    *,
    capabilities: Capabilities,
    signing: SigningPlan,
) -> FilesAnswer:
    """Return the files that answer a query.

    Raises:
        HistoryNotSharedError: If the version is not shared.
        TableMisreadError: If the client would misread the version.
        FileOutsideTableError: If one of the files lies outside of the table.
        FilesVacuumedError: If files of an older version were deleted.
        DeltaError: If the log cannot be read, or the files have no URLs.
    """
    table = open_shared(shared)
    rule = rule_for(shared, signing.token.recipient)
    opened = _open_shared_version(shared, table, query, rule, now=signing.now)
    chosen = _format(shared, opened, capabilities)
    hints = parse_hints(
        predicate_hints=list(query.predicate_hints),
        json_predicate_hints=query.json_predicate_hints,
        schema=opened.schema,
    )
    selection = opened.select(
        predicates=hints.predicates,
        limit=query.limit_hint,
        misses=hints.misses,
    )
    if selection.outside is not None:
        raise FileOutsideTableError(table=shared.full_name, path=selection.outside)
    check_files(shared.table, opened.version, selection)
    named = query.version is not None or query.timestamp is not None
    lines = signed_lines(
        selection,
        chosen,
        signers=open_plan(shared, signing),
        instants=instant_columns(opened.schema, opened.metadata.partition_columns),
        named=opened if named else None,
    )
    # The first files are signed before the answer begins, so that what is wrong with
    # all of them becomes its status.
    head = _head_lines(shared, opened, chosen, rule) + next(lines, b"")
    return FilesAnswer(
        version=opened.version,
        response_format=chosen,
        lines=_chain(head, lines),
        num_files=selection.num_files,
        total_files=selection.total_files,
        size_bytes=selection.size_bytes,
        skipped_hints=hints.skipped,
    )


def _chain(head: bytes, lines: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from lines


# === Opening ===


def open_version(
    shared: SharedTable, table: DeltaTable, query: TableQuery
) -> SharedVersion:
    """Open the version that is asked for, whether or not it is shared.

    Raises:
        DeltaError: If the log cannot be read.
    """
    return _READER.open_version(
        table,
        index_folder=index_folder(shared.table),
        version=query.version,
        timestamp=query.timestamp,
    )


def _open_shared_version(
    shared: SharedTable,
    table: DeltaTable,
    query: TableQuery,
    rule: TableRule,
    *,
    now: datetime,
) -> SharedVersion:
    """Open the version that is asked for, if it is one of those that are shared.

    Only what of it is offered under a rule can be had from it.
    """
    if query.version is None and query.timestamp is None:
        return _newest_offered(shared, table, rule, now=now)
    check_history(shared)
    check_start(shared, query.version)
    try:
        opened = open_version(shared, table, query)
    except TimestampNotFoundError as error:
        # Its message names the first version's time, which may not be shared.
        if shared.start_version:
            raise not_shared_before(shared) from error
        raise
    check_start(shared, opened.version)
    return offered_version(shared, rule, opened, now=now)


def _newest_offered(
    shared: SharedTable, table: DeltaTable, rule: TableRule, *, now: datetime
) -> SharedVersion:
    """Return the newest version under a rule that is ready.

    Raises:
        VersionNotReadyError: If none is.
    """
    newest = open_version(shared, table, TableQuery())
    try:
        return offered_version(shared, rule, newest, now=now)
    except VersionNotReadyError:
        for version in ready_versions(shared, rule):
            if version < (shared.start_version or 0) or version >= newest.version:
                continue
            older = open_version(shared, table, TableQuery(version=version))
            with suppress(VersionNotReadyError):
                return offered_version(shared, rule, older, now=now)
        raise
