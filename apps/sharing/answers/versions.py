"""Versions of shared tables as answers begin with them: opened, in a format, described.

Source: delta_sharing_protocol.md, "Query Table Metadata" and "Read Data from a Table".
"""

from pathlib import Path
from typing import Final, Protocol

from deltaweb.delta.errors import TimestampNotFoundError
from deltaweb.delta.feed.versions import has_feed
from deltaweb.delta.protocol import actions
from deltaweb.delta.protocol.schema import StructType
from deltaweb.expressions.condition import SQLCondition
from deltaweb.index.folder.parts import IndexMissingError
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.index.query.shared_version import SharedVersion
from deltaweb.sharing.capabilities import Capabilities
from deltaweb.sharing.compatibility import misreadings
from deltaweb.sharing.errors import QueryTokenEndedError
from deltaweb.sharing.response_format import ResponseFormat, choose_format
from deltaweb.sharing.table_query import TableQuery
from deltaweb.sharing.wire.lines import TableFacts
from deltaweb.table import DeltaTable
from deltaweb.web.sharing.answers.opening import (
    check_history,
    check_start,
    not_shared_before,
)
from deltaweb.web.sharing.answers.paging import Refreshed, SnapshotStart
from deltaweb.web.sharing.models import SharedTable
from deltaweb.web.tables.index.folders import index_folder, index_folders

# What was read of tables, for all threads of this process.
_READER: Final = SharedTableReader()


# === Opening ===


class DescribedVersion(Protocol):
    """What an answer's first lines say: of `SharedVersion`, what matters here."""

    @property
    def version(self) -> int:
        """The version."""
        ...

    @property
    def protocol(self) -> actions.Protocol:
        """The protocol in force."""
        ...

    @property
    def metadata(self) -> actions.Metadata:
        """The metaData in force."""
        ...

    @property
    def schema(self) -> StructType:
        """The logical schema."""
        ...

    @property
    def has_deletion_vectors(self) -> bool:
        """Whether a live file has a deletion vector."""
        ...

    @property
    def num_files(self) -> int:
        """Count of live files."""
        ...

    @property
    def size_bytes(self) -> int:
        """Sum of their sizes."""
        ...


def open_version(
    shared: SharedTable,
    table: DeltaTable,
    query: TableQuery,
    *,
    index: Path | None = None,
) -> SharedVersion:
    """Open a version, shared or not.

    Args:
        shared: The table.
        table: The same, opened.
        query: Which version is meant.
        index: The index to read it from; that of the catalogue for None.

    Raises:
        DeltaError: If the table's log cannot be read.
    """
    return _READER.open_version(
        table,
        index_folder=index or index_folder(shared.table),
        version=query.version,
        timestamp=query.timestamp,
    )


def open_shared_version(
    shared: SharedTable, table: DeltaTable, query: TableQuery
) -> SharedVersion:
    """Open the version that is asked for, if it is one of those that are shared.

    Raises:
        HistoryNotSharedError: If it is not.
        DeltaError: If the table's log cannot be read.
    """
    if query.names_version:
        check_history(shared)
        check_start(shared, query.version)
    try:
        opened = open_version(shared, table, query)
    except TimestampNotFoundError as error:
        # Its message names the first version's time, which may not be shared.
        if shared.start_version:
            raise not_shared_before(shared) from error
        raise
    if query.names_version:
        check_start(shared, opened.version)
    return opened


def open_asked(
    shared: SharedTable,
    table: DeltaTable,
    query: TableQuery,
    refreshed: Refreshed | None,
) -> SharedVersion:
    """Open the version of a query's first page.

    One whose URLs are to be made anew was the newest when it was answered first, which
    is why nobody asks whether history is shared.

    Raises:
        DeltaError: As `open_shared_version` does.
    """
    if refreshed is None:
        return open_shared_version(shared, table, query)
    return open_version(shared, table, TableQuery(version=refreshed.version))


def open_page(
    shared: SharedTable, table: DeltaTable, start: SnapshotStart
) -> SharedVersion:
    """Open the version of a page, with the files in the order of the page before.

    Raises:
        QueryTokenEndedError: If that order cannot be had any more.
        DeltaError: As `open_version` does.
    """
    name = start.place.index
    try:
        return _READER.open_page(
            table,
            index_folder=index_folder(shared.table),
            ordered_by=index_folders(shared.table_id) / name if name else None,
            version=start.version,
        )
    except IndexMissingError as error:
        raise QueryTokenEndedError(
            name="pageToken", reason="the files are in another order now"
        ) from error


# === The first lines ===


def format_of(
    shared: SharedTable, opened: DescribedVersion, capabilities: Capabilities
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


def head_lines(
    shared: SharedTable, opened: DescribedVersion, response_format: ResponseFormat
) -> bytes:
    """Return the lines of protocol and metadata.

    Counts are left out where a filter hides files: they would reveal those.
    """
    is_whole = not shared.partition_filter
    facts = TableFacts(
        version=opened.version,
        size_bytes=opened.size_bytes if is_whole else None,
        num_files=opened.num_files if is_whole else None,
        has_feed=shared.with_history and has_feed(opened.metadata),
    )
    return response_format.head_lines(opened.metadata, facts)


def filter_of(shared: SharedTable, opened: SharedVersion) -> SQLCondition | None:
    """Return the share's own filter against the schema of this very version.

    Raises:
        PredicateError: If it does not fit.
    """
    if not shared.partition_filter:
        return None
    return SQLCondition(shared.partition_filter, opened.schema)
