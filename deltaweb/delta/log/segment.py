"""Which files hold the log of one version.

A `LogSegment` keeps these promises:

    1. `checkpoint` is complete by its names, and at or before `version`.
    2. `commits` are contiguous: they begin right after the checkpoint, or at 0
       without one, and end at `version`.
    3. `compactions` stand for some of these commits, none for the same ones.

Source: delta_protocol.md, "Checkpoints" and "Last Checkpoint File".
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple

from deltaweb.delta.errors import (
    DeltaError,
    LocationNotFoundError,
    LogFileGoneError,
    LogGapError,
    TableNotFoundError,
    VersionNotFoundError,
)
from deltaweb.delta.log.compactions import (
    Compaction,
    choose_compactions,
    names_to_replay,
    parse_compaction_name,
)
from deltaweb.delta.log.hint import load_hint
from deltaweb.delta.log.paths import (
    FIRST_NAME,
    LAST_CHECKPOINT,
    checkpoint_name,
    checkpoint_part_names,
    commit_name,
    parse_checkpoint_name,
    parse_commit_names,
    version_prefix,
)
from deltaweb.delta.log.store import FileStatus, LogStore, check_size

MAX_HINT_BYTES = 1 << 20  # a hint that is larger is not one


class Checkpoint(NamedTuple):
    """The files of one complete checkpoint."""

    version: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VersionRun:
    """Versions `first` to `last`, both included, that the log can build."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class LogSegment:
    """The files that build one version; see the module for what always holds."""

    version: int
    checkpoint: Checkpoint | None
    commit_versions: range
    compactions: tuple[Compaction, ...] = ()

    @property
    def commit_names(self) -> list[str]:
        """Names of the commits after the checkpoint, oldest first."""
        return [commit_name(version) for version in self.commit_versions]

    @property
    def replayed_names(self) -> list[str]:
        """Names of the files that bring the checkpoint up to date, oldest first."""
        names = self.commit_names
        return names_to_replay(self.commit_versions, self.compactions, names)

    def by_commits(self) -> "LogSegment":
        """Return the segment without compactions."""
        return replace(self, compactions=())

    def size_bytes(self, store: LogStore) -> int:
        """Return the bytes of all these files, by one listing."""
        older = () if self.checkpoint is None else self.checkpoint.names
        names = {*older, *self.commit_names}
        return sum(status.size for status in _statuses(store, names))

    def replayed_statuses(self, store: LogStore) -> list[FileStatus]:
        """Return `replayed_names` with their sizes, oldest first."""
        names = set(self.replayed_names)
        found = _statuses(store, names) if names else []
        if len(found) < len(names):
            missing = min(names.difference(status.name for status in found))
            path = f"{store.root}/_delta_log/{missing}"
            raise LogFileGoneError(path=path, reason="it disappeared while it was read")
        for status in found:
            check_size(store.root, status.name, status.size)
        return found


def _statuses(store: LogStore, names: Collection[str]) -> list[FileStatus]:
    return [status for status in store.list_from(min(names)) if status.name in names]


@dataclass(frozen=True, slots=True)
class LogListing:
    """What one listing of the log says.

    Attributes:
        checkpoints: Checkpoints that are complete by their names, ascending by
            version. Of one version, those that are named by a UUID come first, which
            nobody writes over, then the single file, then parts.
        is_whole: Whether the listing began at the first possible name.
        compactions: What stands for commits, in the order of names.
    """

    commits: Sequence[int]
    checkpoints: Sequence[Checkpoint]
    is_whole: bool
    compactions: Sequence[Compaction] = ()

    @property
    def latest_version(self) -> int | None:
        """The newest version that the names promise, None for an empty log."""
        candidates = [*self.commits[-1:]]
        if self.checkpoints:
            candidates.append(self.checkpoints[-1].version)
        return max(candidates, default=None)


def list_log(store: LogStore, start_version: int = 0) -> LogListing:
    """List the log from `start_version` on."""
    start = version_prefix(start_version) if start_version else FIRST_NAME
    return parse_listing(store.list_names_from(start), is_whole=not start_version)


def parse_listing(
    names: Iterable[str],
    *,
    is_whole: bool,
    versions: Sequence[int | None] | None = None,
) -> LogListing:
    """Sort the names of a log folder into what they are; ignore all others.

    Args:
        is_whole: Whether these are all names of the folder.
        versions: What `parse_commit_names` says of them, where that is known.
    """
    found = list(names)
    if versions is None:
        versions = parse_commit_names(found)
    commits: list[int] = []
    parts: dict[tuple[int, int, bool], set[int]] = {}
    checkpoints: list[Checkpoint] = []
    compactions: list[Compaction] = []
    for name, version in zip(found, versions, strict=True):
        if version is not None:
            commits.append(version)
        elif (compaction := parse_compaction_name(name)) is not None:
            compactions.append(compaction)
        elif (file := parse_checkpoint_name(name)) is None:
            continue
        elif file.has_uuid:
            checkpoints.append(Checkpoint(file.version, (name,)))
        else:
            key = (file.version, file.parts, file.is_multi_part)
            parts.setdefault(key, set()).add(file.part)
    checkpoints += _complete_checkpoints(parts)
    checkpoints.sort(key=attrgetter("version"))  # stable
    return LogListing(sorted(commits), checkpoints, is_whole, compactions)


def _complete_checkpoints(
    parts: Mapping[tuple[int, int, bool], set[int]],
) -> list[Checkpoint]:
    complete = []
    for version, count, is_multi_part in sorted(
        parts, key=lambda key: (key[0], key[2], key[1])
    ):
        if len(parts[version, count, is_multi_part]) == count:
            names = (
                checkpoint_part_names(version, count)
                if is_multi_part
                else (checkpoint_name(version),)
            )
            complete.append(Checkpoint(version, names))
    return complete


def read_hint_version(store: LogStore) -> int | None:
    """Return the version that `_last_checkpoint` names, None when it is no help.

    The hint may be missing, empty, torn, at odds with its checksum or about something
    else: it only says where a listing can begin.
    """
    try:
        return version_of_hint(store.read_head(LAST_CHECKPOINT, MAX_HINT_BYTES))
    except FileNotFoundError:
        return None


def version_of_hint(data: bytes) -> int | None:
    """Return the version that a hint names, None when it is no help."""
    hint = load_hint(data)
    version = hint.get("version") if hint is not None else None
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        return None
    return version


def load_listing(store: LogStore, version: int | None) -> LogListing:
    """List the log from the hint where it serves `version`, else the whole log."""
    hint = read_hint_version(store)
    if hint and (version is None or hint <= version):
        listing = list_log(store, hint)
        if any(checkpoint.version == hint for checkpoint in listing.checkpoints):
            return listing
    listing = list_log(store)
    if listing.latest_version is None:
        raise no_table(store)
    return listing


def no_table(store: LogStore) -> DeltaError:
    """Return the error of a root without a log: nothing there, or no table."""
    if store.root_exists():
        return TableNotFoundError(root=store.root)
    return LocationNotFoundError(location=store.root)


def load_log_segment(
    store: LogStore,
    version: int | None = None,
    *,
    unreadable: Collection[Checkpoint] = (),
) -> LogSegment:
    """Find the files that build `version`, the newest one for None.

    Args:
        unreadable: Checkpoints that turned out broken and are skipped.
    """
    listing = list_log(store) if unreadable else load_listing(store, version)
    latest = listing.latest_version
    if latest is None:
        raise no_table(store)
    target = latest if version is None else version
    if not 0 <= target <= latest:
        raise _version_not_found(store, target, listing)
    return build_segment(listing, target, store=store, unreadable=unreadable)


def build_segment(
    listing: LogListing,
    version: int,
    *,
    store: LogStore,
    unreadable: Collection[Checkpoint] = (),
) -> LogSegment:
    """Choose the newest complete checkpoint and check the commits after it."""
    checkpoint = newest_checkpoint(listing, version, unreadable)
    first = checkpoint.version + 1 if checkpoint else 0
    missing = _first_missing(listing.commits, first, version)
    if missing is None:
        versions = range(first, version + 1)
        compactions = choose_compactions(listing.compactions, versions)
        return LogSegment(version, checkpoint, versions, compactions)
    if checkpoint is None and not unreadable and _is_before_all(listing, version):
        raise _version_not_found(store, version, listing)
    raise LogGapError(root=store.root, version=version, missing_version=missing)


def newest_checkpoint(
    listing: LogListing, version: int, unreadable: Collection[Checkpoint] = ()
) -> Checkpoint | None:
    """Return the newest checkpoint at or before `version` that may be readable."""
    best: Checkpoint | None = None
    for candidate in listing.checkpoints:
        if candidate.version > version:
            break
        if candidate in unreadable:
            continue
        if best is None or candidate.version > best.version:
            best = candidate
    return best


def readable_runs(listing: LogListing) -> list[VersionRun]:
    """Return the runs of versions that the names of the log can build, ascending."""
    starts = {checkpoint.version for checkpoint in listing.checkpoints}
    commits = listing.commits
    if commits and commits[0] == 0:
        starts.add(0)
    runs: list[VersionRun] = []
    for start in sorted(starts):
        if runs and start <= runs[-1].last:
            continue
        last = _end_of_run(commits, start)
        if runs and start == runs[-1].last + 1:
            runs[-1] = VersionRun(runs[-1].first, last)
        else:
            runs.append(VersionRun(start, last))
    return runs


def _end_of_run(commits: Sequence[int], start: int) -> int:
    low, high = bisect_right(commits, start), len(commits)
    offset = low
    while low < high:  # commits[low] - low is constant exactly along a run
        middle = (low + high) // 2
        if commits[middle] - (start + 1) == middle - offset:
            low = middle + 1
        else:
            high = middle
    return start + low - offset


def _first_missing(commits: Sequence[int], first: int, last: int) -> int | None:
    begin, end = bisect_left(commits, first), bisect_right(commits, last)
    if end - begin == last - first + 1:
        return None
    if begin == end or commits[begin] != first:
        return first
    return _end_of_run(commits, first) + 1


def _is_before_all(listing: LogListing, version: int) -> bool:
    """Tell whether the log's clean-up has taken `version` away."""
    runs = readable_runs(listing)
    return bool(runs) and version < runs[0].first


def _version_not_found(
    store: LogStore, version: int, listing: LogListing
) -> VersionNotFoundError:
    whole = listing if listing.is_whole else list_log(store)
    runs = readable_runs(whole)
    latest = whole.latest_version or 0
    return VersionNotFoundError(
        root=store.root,
        version=version,
        earliest=runs[0].first if runs else latest,
        latest=latest,
    )
