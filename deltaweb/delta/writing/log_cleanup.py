"""What may leave a log by its retention, and its deletion: only when asked for.

What is kept: the newest checkpoint at or before the cut, the commit that it was made
after, and everything later. So each version that the retention promises can still be
read, and the newest one at the cut too. Files go oldest first: a clean-up that is
interrupted leaves a log that is as good as any that was cleaned. What killed writers
have left goes once it is old.

Source: delta_protocol.md, "Delta Log Entries" and "Checkpoints"; the cut at midnight
UTC is the reference implementation's.
"""

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from deltaweb.delta.errors import (
    DeltaError,
    LogCorruptError,
    LogGapError,
    UnsupportedWriterFeatureError,
)
from deltaweb.delta.features.checkpoint_protection import CHECKPOINT_PROTECTION
from deltaweb.delta.features.in_commit_timestamps import own_times
from deltaweb.delta.features.registry import log_writing_refusal
from deltaweb.delta.log.checkpoints.reader import CheckpointReader
from deltaweb.delta.log.checkpoints.sidecars import named_sidecars
from deltaweb.delta.log.commits.times import (
    CommitTimes,
    make_monotonic,
    to_ms,
    with_own_times,
)
from deltaweb.delta.log.paths import (
    FIRST_NAME,
    parse_checkpoint_name,
    parse_commit_name,
)
from deltaweb.delta.log.segment import (
    Checkpoint,
    LogListing,
    build_segment,
    no_table,
    parse_listing,
    read_hint_version,
)
from deltaweb.delta.log.store import FileStatus, LogStore
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.table_properties import log_retention_ms
from deltaweb.delta.snapshot.state import load_state
from deltaweb.delta.writing.checkpoint.last_checkpoint import (
    LastCheckpoint,
    NamedCheckpoint,
    has_checkpoint,
    write_last_checkpoint,
)
from deltaweb.delta.writing.checkpoint.older_checkpoint import count_rows

OPERATION: Final = "no clean-up of the log"
YOUNG: Final = timedelta(days=1)
# The extras that other engines keep beside the commits: checksums, and compactions of
# several commits, which are named after the first and the last of them.
_CHECKSUM = re.compile(r"([0-9]{20})\.crc", re.ASCII)
_COMPACTION = re.compile(r"[0-9]{20}\.([0-9]{20})\.compacted\.json", re.ASCII)


_UUID: Final = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
# Temporary files of writers that were killed: of this one (eight letters), of Spark's
# (a UUID, and Hadoop's checksum beside it) and of delta-rs.
_LEFTOVER = re.compile(
    r"\.{1,2}(?:_last_checkpoint|[0-9]{20}\.[0-9A-Za-z.-]+)"
    rf"\.(?:\w{{8}}|{_UUID})\.tmp(?:\.crc)?|_commit_{_UUID}\.json\.tmp",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class LogCleanup:
    """What a clean-up takes, or would take.

    Attributes:
        cutoff: History before this time is not kept; midnight UTC.
        checkpoint_version: The version from which on everything is kept; None where
            no checkpoint allows that anything goes.
    """

    cutoff: datetime
    checkpoint_version: int | None
    files: Sequence[FileStatus]
    is_done: bool

    @property
    def size_bytes(self) -> int:
        return sum(file.size for file in self.files)


def clean_up_log(  # noqa: PLR0913 (what a caller may want of one)
    store: LogStore,
    *,
    now: datetime,
    is_dry_run: bool = False,
    keep_from: int | None = None,
    on_found: Callable[[LogCleanup], None] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> LogCleanup:
    """Delete the history that `delta.logRetentionDuration` does not keep.

    Args:
        now: The time to count back from; aware.
        keep_from: The oldest version that has to stay readable; any for None.
        on_found: Called with what goes, before anything does; it may raise to keep it.
    """
    state = load_state(store, None)
    refusal = cleanup_refusal(
        state.protocol, state.metadata, root=store.root, version=state.version
    )
    if refusal is not None:
        raise refusal
    cutoff = retention_cutoff(state.metadata.configuration, now=now)
    listed = store.list_from("")
    statuses = [status for status in listed if status.name >= FIRST_NAME]
    listing = parse_listing((status.name for status in statuses), is_whole=True)
    times = with_own_times(
        store, make_monotonic(statuses), own_times(state.protocol, state.metadata)
    )
    kept = _kept_checkpoint(store, listing, times, cutoff, keep_from=keep_from)
    version = None if kept is None else kept.version
    files = _leftovers(listed, now=now)
    if kept is not None:
        files += _files_below(statuses, kept.version)
        going = {status.name for status in files}
        stays = [one for one in listing.checkpoints if not {*one.names} & going]
        files += _orphans(store, stays, now=now)
    if on_found is not None:
        on_found(LogCleanup(cutoff, version, files, is_done=False))
    if not is_dry_run:
        store.remove_leftovers()
        if files and kept is not None:
            _move_hint(store, kept)
        _delete(store, files, on_progress or _ignore)
    return LogCleanup(cutoff, version, files, is_done=not is_dry_run)


def _ignore(_done: int, _total: int) -> None:
    """Tell nobody."""


def cleanup_refusal(
    protocol: Protocol, metadata: Metadata, *, root: str, version: int
) -> DeltaError | None:
    """Return why the log of a table may not be cleaned up, None when it may."""
    refusal = log_writing_refusal(
        protocol, metadata, root=root, version=version, operation=OPERATION
    )
    if refusal is None and CHECKPOINT_PROTECTION in (protocol.writer_features or ()):
        # What goes may be of features that the newest version has dropped.
        return UnsupportedWriterFeatureError(
            root=root,
            version=version,
            features=[CHECKPOINT_PROTECTION],
            operation=OPERATION,
        )
    return refusal


def retention_cutoff(configuration: Mapping[str, str], *, now: datetime) -> datetime:
    """Return the midnight, in UTC, at or before the time that is kept."""
    retention_ms = log_retention_ms(configuration)
    try:
        oldest = now.astimezone(UTC) - timedelta(milliseconds=retention_ms)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)
    return oldest.replace(hour=0, minute=0, second=0, microsecond=0)


def _kept_checkpoint(
    store: LogStore,
    listing: LogListing,
    times: CommitTimes,
    cutoff: datetime,
    *,
    keep_from: int | None,
) -> Checkpoint | None:
    """Return the newest checkpoint at or before the cut that surely reads."""
    latest = listing.latest_version
    if latest is None:
        raise no_table(store)
    newest_expired = times.version_at(to_ms(cutoff) - 1)
    if newest_expired is None:
        return None
    if keep_from is not None:
        newest_expired = min(newest_expired, keep_from)
    commits = set(listing.commits)
    for checkpoint in reversed(listing.checkpoints):
        # The reference implementation refuses a log without the commit.
        if checkpoint.version > newest_expired or checkpoint.version not in commits:
            continue
        alone = LogListing(listing.commits, [checkpoint], is_whole=True)
        try:
            build_segment(alone, latest, store=store)
        except LogGapError:
            return None
        if _is_whole(store, checkpoint):
            return checkpoint
    return None


def _is_whole(store: LogStore, checkpoint: Checkpoint) -> bool:
    """Tell whether a checkpoint reads: nothing before it would be left to fall on."""
    try:
        reader = CheckpointReader(store, checkpoint)
        reader.protocol_and_metadata(reads_ahead=False)
        for group in reader.row_groups:
            leaves = [*group.find_leaves("add.path"), *group.find_leaves("remove.path")]
            if leaves:
                group.part.read(group.indices, leaves)
    except (LogCorruptError, FileNotFoundError):
        return False
    return True


def _files_below(statuses: Sequence[FileStatus], version: int) -> list[FileStatus]:
    """Return the files of versions below one, oldest first.

    Younger files go too: a checkpoint that was made lately of an old version would
    else give that version its own time, and push those of later versions up.
    """
    found = []
    for status in statuses:
        last = _last_version(status.name)
        if last is not None and last < version:
            found.append((last, status.name, status))
    return [status for *_, status in sorted(found, key=lambda item: item[:2])]


def _leftovers(listed: Sequence[FileStatus], *, now: datetime) -> list[FileStatus]:
    """Return what killed writers have left; young files may be of a living one."""
    latest_ms = _midnight_before_ms(now)
    return [
        one
        for one in listed
        if one.modification_time < latest_ms and _LEFTOVER.fullmatch(one.name)
    ]


def _midnight_before_ms(now: datetime) -> int:
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return to_ms(midnight - YOUNG)


def _orphans(
    store: LogStore, checkpoints: Sequence[Checkpoint], *, now: datetime
) -> list[FileStatus]:
    """Return the sidecars that no checkpoint which stays names.

    Young ones stay, since a checkpoint may be in the making; all do where a checkpoint
    does not tell which ones it names.
    """
    latest_ms = _midnight_before_ms(now)
    old = [one for one in store.list_sidecars() if one.modification_time < latest_ms]
    if not old:
        return []
    named: set[str] = set()
    for checkpoint in checkpoints:
        try:
            named.update(named_sidecars(store, checkpoint))
        except (LogCorruptError, FileNotFoundError):
            return []
    return [one for one in old if one.name not in named]


def _last_version(name: str) -> int | None:
    """Return the newest version that a file of the log is about."""
    version = parse_commit_name(name)
    if version is not None:
        return version
    checkpoint = parse_checkpoint_name(name)
    if checkpoint is not None:
        return checkpoint.version
    match = _CHECKSUM.fullmatch(name) or _COMPACTION.fullmatch(name)
    return int(match[1]) if match else None


def _move_hint(store: LogStore, kept: Checkpoint) -> None:
    """Let the hint name a checkpoint that stays: some readers trust it blindly."""
    version = read_hint_version(store)
    if version is None:
        return
    if version >= kept.version and has_checkpoint(
        store, NamedCheckpoint(version, None)
    ):
        return
    named = parse_checkpoint_name(kept.names[0])
    is_multi_part = named is not None and named.is_multi_part
    write_last_checkpoint(
        store,
        LastCheckpoint(
            version=kept.version,
            num_actions=count_rows(CheckpointReader(store, kept)),
            parts=len(kept.names) if is_multi_part else None,
        ),
    )


def _delete(
    store: LogStore,
    files: Sequence[FileStatus],
    on_progress: Callable[[int, int], None],
) -> None:
    for done, file in enumerate(files, start=1):
        with contextlib.suppress(FileNotFoundError):  # another clean-up took it
            store.delete(file.name)
        on_progress(done, len(files))
