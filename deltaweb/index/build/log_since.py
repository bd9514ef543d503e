"""What the log holds since an index was made of it: one listing, and two looks."""

from dataclasses import dataclass
from typing import Final

from deltaweb.delta.log.paths import commit_name, parse_commit_name, version_prefix
from deltaweb.delta.log.segment import list_log, parse_listing, readable_runs
from deltaweb.delta.log.store import FileStatus, LogStore
from deltaweb.index.build.base_index import CannotUpdateError, VerifiedIndex
from deltaweb.index.files.source import commit_digest

SECOND_MS: Final = 1000


@dataclass(frozen=True, slots=True)
class LogSince:
    """What came since an index, and what the log has lost since.

    Attributes:
        commits: The new commits, oldest first; they follow the index's version
            without a gap.
        first_version: The oldest version that it can build.
        checkpoints: The versions of the checkpoints from the index's version on.
    """

    commits: tuple[FileStatus, ...]
    first_commit: int
    first_version: int
    checkpoints: tuple[int, ...]

    @property
    def size_bytes(self) -> int:
        return sum(commit.size for commit in self.commits)


def read_log_since(store: LogStore, base: VerifiedIndex) -> LogSince:
    """Look at what came since an index."""
    version = base.version
    statuses = store.list_from(version_prefix(version))
    listing = parse_listing((status.name for status in statuses), is_whole=False)
    by_name = {status.name: status for status in statuses}
    if not _is_the_file(by_name.get(commit_name(version)), base.source.commit_status):
        reason = f"commit {version} is gone, or another file"
        raise CannotUpdateError(reason)
    if commit_digest(store, version) != base.source.commit_digest:
        reason = f"commit {version} is another one"
        raise CannotUpdateError(reason)
    expected = list(range(version, version + len(listing.commits)))
    if list(listing.commits) != expected or listing.latest_version != expected[-1]:
        reason = f"the log has a gap after version {version}"
        raise CannotUpdateError(reason)
    new = tuple(by_name[commit_name(number)] for number in expected[1:])
    first_commit, first_version = _find_start(store, base)
    checkpoints = tuple(one.version for one in listing.checkpoints)
    return LogSince(new, first_commit, first_version, checkpoints)


def new_version(commit: FileStatus) -> int:
    return parse_commit_name(commit.name) or 0


def _is_the_file(listed: FileStatus | None, known: FileStatus) -> bool:
    """Tell whether a listing shows a file that was looked at before.

    Some storages have whole seconds of a single file, and more in a listing.
    """
    return (
        listed is not None
        and listed.size == known.size
        and abs(listed.modification_time - known.modification_time) < SECOND_MS
    )


def _find_start(store: LogStore, base: VerifiedIndex) -> tuple[int, int]:
    """Return the oldest commit, and the oldest version that the log can build.

    A clean-up takes the oldest commits first, so one look shows whether there was one.
    """
    oldest = base.first_commit
    try:
        if oldest < base.version:
            store.status(commit_name(oldest))
    except FileNotFoundError:
        pass
    else:
        return oldest, base.first_version
    whole = list_log(store)
    runs = readable_runs(whole)
    if len(runs) != 1 or runs[0].first > base.version:
        reason = "what a clean-up left of the log has holes"
        raise CannotUpdateError(reason)
    return whole.commits[0], max(runs[0].first, base.first_version)
