"""Version, metadata and files of one shared table.

Source: delta_sharing_protocol.md, "Query Table Version", "Query Table Metadata" and
"Read Data from a Table".
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from apps.sharing.answers.vacuumed import check_files
from apps.sharing.models import RecipientToken, SharedTable
from apps.tables.index_folders import indexes_folder
from apps.tables.models import Table
from apps.tables.opening import open_table, roots_of_server
from apps.tables.storage_connections import options_for
from deltaweb.delta.commit_times import to_ms
from deltaweb.delta.errors import TimestampNotFoundError
from deltaweb.delta.predicate import Predicate
from deltaweb.index.shared.file_selection import FileSelection
from deltaweb.index.shared.shared_table import SharedTableReader
from deltaweb.index.shared.shared_version import SharedVersion
from deltaweb.sharing import wire
from deltaweb.sharing.compatibility import misreadings
from deltaweb.sharing.errors import (
    FileOutsideTableError,
    HistoryNotSharedError,
    ParameterInvalidError,
    TableMisreadError,
)
from deltaweb.sharing.hints import SkippedHint, parse_hints
from deltaweb.sharing.predicates import parse_predicate
from deltaweb.sharing.table_query import TableQuery
from deltaweb.storage.file_urls import LocalFileSigner
from deltaweb.storage.location import is_local, normalize_location
from deltaweb.storage.signing import URLSigner, open_signer
from deltaweb.table import DeltaTable

# What was read of tables, for all threads of this process.
_READER: Final = SharedTableReader()


@dataclass(frozen=True, slots=True)
class MetadataAnswer:
    """The two lines of a table's metadata, and the version that they are of."""

    version: int
    lines: bytes


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
    """

    version: int
    lines: Iterator[bytes]
    num_files: int
    total_files: int
    size_bytes: int
    skipped_hints: Sequence[SkippedHint]


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningPlan:
    """What the URLs of files are made from.

    Attributes:
        base_url: The server's public address.
        keys: The keys of the URLs of this server's own files.
        lifetime_s: How long a URL is good at most.
        now: The current time.
        token: The caller's token, without which a URL of ours does not work.
    """

    base_url: str
    keys: Sequence[bytes]
    lifetime_s: int
    now: datetime
    token: RecipientToken


# === Versions ===


def table_version(
    shared: SharedTable, *, starting_timestamp: datetime | None = None
) -> int:
    """Return the newest version, or the earliest at or after a time.

    A time before the first version that is shared means that one.

    Raises:
        HistoryNotSharedError: If a time is given and the table has no history here.
        ParameterInvalidError: If the time is after the newest version.
        DeltaError: If the table's log cannot be read.
    """
    if starting_timestamp is None:
        return _open(shared).latest_version()
    _check_history(shared)
    table = _open(shared)
    return _earliest_version(table, shared, starting_timestamp)


def _earliest_version(table: DeltaTable, shared: SharedTable, moment: datetime) -> int:
    newest = _open_version(shared, table, TableQuery())
    if newest.commit_times_refusal is not None:
        raise newest.commit_times_refusal
    times = table.commit_times()
    # Times of versions are whole milliseconds: the first one that is not before.
    time_ms = to_ms(moment) + bool(moment.microsecond % 1000)
    position = bisect_left(times.times_ms, time_ms)
    if position == len(times.versions):
        raise ParameterInvalidError(
            name="startingTimestamp",
            reason="it is after the table's newest version",
            hint="Choose an earlier time.",
        )
    first_readable = table.readable_versions()[0].first
    # The newest version is shared in any case, though history may begin after it.
    first_shared = min(shared.start_version or 0, newest.version)
    return max(times.versions[position], first_readable, first_shared)


# === Metadata ===


def table_metadata(
    shared: SharedTable,
    *,
    version: int | None = None,
    timestamp: datetime | None = None,
) -> MetadataAnswer:
    """Return the metadata of a version, the newest one where none is named.

    Raises:
        HistoryNotSharedError: If the version is not shared.
        SchemaError: If the table's schema is missing or does not parse.
        DeltaError: If the table's log cannot be read.
    """
    opened = _open_shared_version(
        shared, _open(shared), TableQuery(version=version, timestamp=timestamp)
    )
    _ = opened.schema  # what cannot be told is not told in part
    return MetadataAnswer(opened.version, _metadata_lines(shared, opened))


def _metadata_lines(shared: SharedTable, opened: SharedVersion) -> bytes:
    """Return the lines of protocol and metadata.

    Counts are left out where a filter hides files: they would tell of those.
    """
    is_whole = not shared.partition_filter
    return wire.protocol_line() + wire.metadata_line(
        opened.metadata,
        version=opened.version,
        size_bytes=opened.size_bytes if is_whole else None,
        num_files=opened.num_files if is_whole else None,
    )


# === Files ===


def table_files(
    shared: SharedTable, query: TableQuery, *, signing: SigningPlan
) -> FilesAnswer:
    """Return the files that answer a query.

    Raises:
        HistoryNotSharedError: If the version is not shared.
        TableMisreadError: If clients would misread the version.
        FileOutsideTableError: If one of the files lies outside of the table.
        FilesVacuumedError: If files of an older version were deleted.
        DeltaError: If the log cannot be read, or the files have no URLs.
    """
    table = _open(shared)
    opened = _open_shared_version(shared, table, query)
    _check_readable(shared, opened)
    hints = parse_hints(
        predicate_hints=list(query.predicate_hints),
        json_predicate_hints=query.json_predicate_hints,
        schema=opened.schema,
    )
    selection = opened.select(
        predicates=hints.predicates,
        partition_filter=_partition_filter(shared, opened),
        limit=query.limit_hint,
        misses=hints.misses,
    )
    if selection.outside is not None:
        raise FileOutsideTableError(table=shared.full_name, path=selection.outside)
    check_files(shared.table, opened.version, selection)
    named = query.version is not None or query.timestamp is not None
    lines = _file_lines(
        selection,
        signer=_signer(shared, signing),
        version_and_timestamp=(
            (opened.version, to_ms(opened.timestamp)) if named else None
        ),
    )
    # The first files are signed before the answer begins, so that what is wrong with
    # all of them is told in its place: a status.
    head = _metadata_lines(shared, opened) + next(lines, b"")
    return FilesAnswer(
        version=opened.version,
        lines=_chain(head, lines),
        num_files=selection.num_files,
        total_files=selection.total_files,
        size_bytes=selection.size_bytes,
        skipped_hints=hints.skipped,
    )


def _check_readable(shared: SharedTable, opened: SharedVersion) -> None:
    found = misreadings(
        opened.protocol,
        opened.metadata,
        opened.schema,
        has_deletion_vectors=opened.has_deletion_vectors,
    )
    if found:
        raise TableMisreadError(table=shared.full_name, misreadings=found)


def _partition_filter(shared: SharedTable, opened: SharedVersion) -> Predicate | None:
    """Parse the share's own filter against the schema of this very version.

    Raises:
        PredicateError: If it does not fit.
    """
    if not shared.partition_filter:
        return None
    return parse_predicate(shared.partition_filter, opened.schema)


def _file_lines(
    selection: FileSelection,
    *,
    signer: URLSigner,
    version_and_timestamp: tuple[int, int] | None,
) -> Iterator[bytes]:
    expiration_ms = to_ms(signer.expires_at)
    for batch in selection.batches():
        urls = signer.sign(batch["relative_path"], batch["size"])
        yield wire.file_lines(
            batch,
            urls,
            expiration_ms=expiration_ms,
            version_and_timestamp=version_and_timestamp,
        )


def _chain(head: bytes, lines: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from lines


def _signer(shared: SharedTable, plan: SigningPlan) -> URLSigner:
    """Return what signs the files; no URL outlives the token that asked for it."""
    location = shared.table.location
    wanted = plan.now + timedelta(seconds=plan.lifetime_s)
    expires_at = min(wanted, plan.token.ends_at)
    if not is_local(normalize_location(location)):
        lifetime = expires_at - plan.now
        return open_signer(
            location,
            options_for(location),
            now=plan.now,
            lifetime_s=max(1, int(lifetime.total_seconds())),
        )
    return LocalFileSigner(
        base_url=plan.base_url,
        share=shared.share.name,
        table_id=shared.id,
        token_id=plan.token.id,
        keys=plan.keys,
        expires_at=expires_at,
    )


# === Opening ===


def _open(shared: SharedTable) -> DeltaTable:
    return open_table(shared.table, roots=roots_of_server())


def _open_version(
    shared: SharedTable, table: DeltaTable, query: TableQuery
) -> SharedVersion:
    return _READER.open_version(
        table,
        index_folder=_index_folder(shared.table),
        version=query.version,
        timestamp=query.timestamp,
    )


def _open_shared_version(
    shared: SharedTable, table: DeltaTable, query: TableQuery
) -> SharedVersion:
    """Open the version that is asked for, if it is one of those that are shared."""
    named = query.version is not None or query.timestamp is not None
    if named:
        _check_history(shared)
        _check_start(shared, query.version)
    try:
        opened = _open_version(shared, table, query)
    except TimestampNotFoundError as error:
        # Its words tell of the first version's time, which may not be shared.
        if shared.start_version:
            raise _not_shared_before(shared) from error
        raise
    if named:
        _check_start(shared, opened.version)
    return opened


def _check_history(shared: SharedTable) -> None:
    if not shared.with_history:
        raise HistoryNotSharedError(table=shared.full_name)


def _check_start(shared: SharedTable, version: int | None) -> None:
    start = shared.start_version
    if version is not None and start is not None and version < start:
        raise _not_shared_before(shared)


def _not_shared_before(shared: SharedTable) -> HistoryNotSharedError:
    return HistoryNotSharedError(table=shared.full_name, since=shared.start_version)


def _index_folder(table: Table) -> Path | None:
    if not table.index_name:
        return None
    return indexes_folder() / str(table.id) / table.index_name
