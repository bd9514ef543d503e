"""What a version is built from may turn out broken: then it is something older.

That is a checkpoint before a broken one, and commits in the place of a compaction.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TypeVar

from deltaweb.delta.errors import (
    LogCorruptError,
    LogFileGoneError,
    LogGapError,
    MissingActionError,
)
from deltaweb.delta.log.compactions import DoubtedCompactionError
from deltaweb.delta.log.paths import SIDECARS
from deltaweb.delta.log.segment import Checkpoint, LogSegment, load_log_segment
from deltaweb.delta.log.store import LogStore

T = TypeVar("T")


class UnreadableCheckpointError(Exception):
    """The checkpoint to start from turned out broken."""

    def __init__(self, checkpoint: Checkpoint, cause: LogCorruptError) -> None:
        super().__init__(str(cause))
        self.checkpoint = checkpoint
        self.cause = cause


@contextmanager
def of_checkpoint(checkpoint: Checkpoint | None) -> Iterator[None]:
    """Mark a fault as that of the checkpoint, so that one before it is tried."""
    try:
        yield
    except LogCorruptError as fault:
        if checkpoint is None:
            raise
        raise UnreadableCheckpointError(checkpoint, fault) from None


@contextmanager
def of_files_of(checkpoint: Checkpoint | None) -> Iterator[None]:
    """Mark a fault as that of the checkpoint where it is one of its files."""
    try:
        yield
    except LogCorruptError as fault:
        *_, folder, name = fault.path.rsplit("/", 2)
        if checkpoint is None or not (folder == SIDECARS or name in checkpoint.names):
            raise
        raise UnreadableCheckpointError(checkpoint, fault) from None


def try_segments(
    store: LogStore,
    version: int | None,
    attempt: Callable[[LogSegment], T],
    *,
    by_compactions: bool = True,
) -> T:
    """Return what an attempt makes of the log of a version, the newest for None.

    Args:
        attempt: Called again with the log from an older checkpoint, as long as it
            says by `of_checkpoint` that the one it got is broken; and again without
            compactions, where there were some and anything is wrong with the log.
            It is called with a new listing if a clean-up deleted files of the first.
        by_compactions: Whether compactions may stand for commits.
    """
    unreadable: dict[Checkpoint, LogCorruptError] = {}
    while True:
        try:
            segment = load_log_segment(store, version, unreadable=unreadable)
        except LogGapError:
            if unreadable:
                raise next(iter(unreadable.values())) from None
            raise
        if not by_compactions:
            segment = segment.by_commits()
        try:
            return attempt(segment)
        except UnreadableCheckpointError as fault:
            if not _is_outdated(store, version, segment, fault.cause, unreadable):
                unreadable[fault.checkpoint] = fault.cause
        except (LogCorruptError, MissingActionError, DoubtedCompactionError) as fault:
            if _is_outdated(store, version, segment, fault, unreadable):
                continue
            if not segment.compactions:
                raise
            by_compactions = False


def _is_outdated(
    store: LogStore,
    version: int | None,
    segment: LogSegment,
    fault: Exception,
    unreadable: Collection[Checkpoint],
) -> bool:
    """Return whether a file is gone because a newer checkpoint replaces it.

    Raises:
        VersionNotFoundError: If a clean-up has deleted the version.
    """
    if not isinstance(fault, LogFileGoneError):
        return False
    try:
        now = load_log_segment(store, version, unreadable=unreadable)
    except LogGapError:
        return False
    return now.checkpoint != segment.checkpoint
