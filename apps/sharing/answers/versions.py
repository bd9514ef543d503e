"""Versions of shared tables as answers begin with them: opened, in a format, described.

Source: delta_sharing_protocol.md, "Query Table Metadata" and "Read Data from a Table".
"""

from contextlib import suppress
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Final, Protocol

import pyarrow as pa

from apps.sharing.access.directories import directory_of
from apps.sharing.access.grants.offered import offered_version, ready_versions
from apps.sharing.access.grants.rules import TableRule
from apps.sharing.answers.opening import (
    check_history,
    check_start,
    naming_shared_versions,
    not_shared_before,
)
from apps.sharing.answers.paging import Refreshed, SnapshotStart
from apps.sharing.models import SharedTable
from apps.tables.index.folders import index_folder, index_folders
from deltaweb.delta.errors import TimestampNotFoundError
from deltaweb.delta.feed.versions import has_feed
from deltaweb.delta.protocol import actions
from deltaweb.delta.protocol.schema import StructType
from deltaweb.index.folder.parts import IndexMissingError
from deltaweb.index.query.restricted_version import PreparedPart
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.index.query.shared_version import SharedVersion
from deltaweb.sharing.capabilities import Capabilities
from deltaweb.sharing.compatibility import misreadings
from deltaweb.sharing.errors import (
    PlainFilesAwaitedError,
    QueryTokenEndedError,
    VersionNotReadyError,
)
from deltaweb.sharing.query_tokens import head_digest
from deltaweb.sharing.response_format import ResponseFormat, choose_format
from deltaweb.sharing.table_query import TableQuery
from deltaweb.sharing.wire.lines import TableFacts
from deltaweb.table import DeltaTable

RETRY_AFTER_S: Final = 30  # for clients that ask for files too early

# What was read of tables, for all threads of this process.
_READER: Final = SharedTableReader()


# === Opening ===


class DescribedVersion(Protocol):
    """What an answer's first lines say: of `SharedVersion`, what matters here."""

    @property
    def version(self) -> int: ...

    @property
    def protocol(self) -> actions.Protocol: ...

    @property
    def metadata(self) -> actions.Metadata: ...

    @property
    def schema(self) -> StructType: ...

    @property
    def has_deletion_vectors(self) -> bool: ...

    @property
    def num_files(self) -> int: ...

    @property
    def size_bytes(self) -> int: ...


def open_version(
    shared: SharedTable,
    table: DeltaTable,
    query: TableQuery,
    *,
    index: Path | None = None,
) -> SharedVersion:
    """Open a version, shared or not.

    Args:
        index: The index to read it from; that of the catalogue for None.
    """
    return _READER.open_version(
        table,
        index_folder=index or index_folder(shared.table),
        version=query.version,
        timestamp=query.timestamp,
    )


def open_shared_version(
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
    if not query.names_version:
        return _newest_offered(shared, table, rule, now=now)
    check_history(shared)
    check_start(shared, query.version)
    try:
        with naming_shared_versions(shared):
            opened = open_version(shared, table, query)
    except TimestampNotFoundError as error:
        # Its message names the first version's time, which may not be shared.
        if shared.first_version:
            raise not_shared_before(shared) from error
        raise
    check_start(shared, opened.version)
    return offered_version(shared, rule, opened, now=now)


def _newest_offered(
    shared: SharedTable, table: DeltaTable, rule: TableRule, *, now: datetime
) -> SharedVersion:
    """Return the newest version under a rule that is ready.

    If the newest one was ready and its files were erased, they are to be prepared
    again. No older version is returned instead.

    Raises:
        PlainFilesAwaitedError: If a preparation is to be requested.
        VersionNotReadyError: If one has failed, or is requested by the clock: after a
            commit or a change of a rule.
    """
    newest = open_version(shared, table, TableQuery())
    try:
        return offered_version(shared, rule, newest, now=now)
    except VersionNotReadyError as error:
        versions = ready_versions(shared, rule)
        if newest.version in versions and not shared.preparation_problem:
            raise _awaited(shared) from error
        for version in versions:
            if version < shared.first_version or version >= newest.version:
                continue
            older = open_version(shared, table, TableQuery(version=version))
            with suppress(VersionNotReadyError):
                return offered_version(shared, rule, older, now=now)
        if not rule.is_plain or shared.preparation_problem:
            raise
        raise _awaited(shared) from error


def _awaited(shared: SharedTable) -> PlainFilesAwaitedError:
    return PlainFilesAwaitedError(table=shared.full_name, retry_after_s=RETRY_AFTER_S)


def open_asked(  # noqa: PLR0913 (what is asked for, of whom, and by whom)
    shared: SharedTable,
    table: DeltaTable,
    query: TableQuery,
    rule: TableRule,
    refreshed: Refreshed | None,
    *,
    now: datetime,
) -> SharedVersion:
    """Open the version of a query's first page.

    One whose URLs are to be refreshed was the newest when it was answered first, which
    is why nobody asks whether history is shared.
    """
    if refreshed is None:
        return open_shared_version(shared, table, query, rule, now=now)
    opened = open_version(shared, table, TableQuery(version=refreshed.version))
    return offered_version(shared, rule, opened, now=now)


def open_page(
    shared: SharedTable,
    table: DeltaTable,
    start: SnapshotStart,
    rule: TableRule,
    *,
    now: datetime,
) -> SharedVersion:
    """Open the version of a page, with the files in the order of the page before."""
    name = start.place.index
    try:
        opened = _READER.open_page(
            table,
            index_folder=index_folder(shared.table),
            ordered_by=index_folders(shared.table_id) / name if name else None,
            version=start.version,
        )
    except IndexMissingError as error:
        raise QueryTokenEndedError(
            name="pageToken", reason="the order of the files has changed"
        ) from error
    return offered_version(shared, rule, opened, now=now)


# === The first lines ===


def format_of(
    shared: SharedTable, opened: DescribedVersion, capabilities: Capabilities
) -> ResponseFormat:
    """Return the format that the client reads the version in."""
    found = misreadings(
        opened.protocol,
        opened.metadata,
        opened.schema,
        has_deletion_vectors=opened.has_deletion_vectors,
    )
    return choose_format(
        capabilities, found, protocol=opened.protocol, table=shared.full_name
    )


def head_lines(
    shared: SharedTable,
    opened: DescribedVersion,
    response_format: ResponseFormat,
    rule: TableRule,
) -> bytes:
    """Return the lines of protocol and metadata.

    Counts are left out where only a part of the table is shared.
    """
    is_whole = rule.is_whole
    facts = TableFacts(
        version=opened.version,
        size_bytes=opened.size_bytes if is_whole else None,
        num_files=opened.num_files if is_whole else None,
        has_feed=shared.history_start is not None and has_feed(opened.metadata),
        location=None if rule.is_plain else directory_of(shared),
    )
    return response_format.head_lines(opened.metadata, facts)


def page_mark(opened: SharedVersion, head: bytes) -> str:
    """Return what all pages of an answer have in common.

    Rewritten files are named, too: others would be in another order, which is that of
    their paths.
    """
    prepared = [
        part.paths.cast(pa.binary()).to_pylist()
        for part, _ in opened.live_parts()
        if isinstance(part, PreparedPart)
    ]
    return head_digest(b"\n".join([head, *sorted(chain.from_iterable(prepared))]))
