"""When each version was made, and which version a time means.

Commits of tables with in-commit timestamps carry their times. The time of any other
version is the time of its commit file, made monotonic: copies and clocks can put a
later commit before an earlier one. What else a writer claims in commitInfo is for
display only.

Source: delta_protocol.md, "Delta Log Entries" and "In-Commit Timestamps"; the reference
implementation's rule for files that are not in order.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import TimestampInvalidError
from deltaweb.delta.features.in_commit_timestamps import OwnTimes
from deltaweb.delta.log.commits.arrow_reader import Longs
from deltaweb.delta.log.commits.info import own_time_ms, read_commit_info
from deltaweb.delta.log.paths import parse_checkpoint_name, parse_commit_names
from deltaweb.delta.log.store import FileStatus, LogStore
from deltaweb.delta.values.time_zones.known import zone_rules

FEW_READS: Final = 32
READERS: Final = 16
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class CommitTimes:
    """The versions that the log shows, and the time of each.

    Attributes:
        versions: Ascending; versions of checkpoints without a commit are among them.
        times_ms: For each, milliseconds since the Unix epoch, each later than the one
            before; but that commits' own times may begin before those of files end.
        sizes: For each, the size of its commit file in bytes; None without one.
        num_of_files: How many versions, the first ones, go by the times of files.
        since_ms: From when on a time means one of the others; None where the first of
            them says.
    """

    versions: Sequence[int]
    times_ms: Sequence[int]
    sizes: Sequence[int | None]
    num_of_files: int
    since_ms: int | None = None

    def time_ms(self, version: int) -> int | None:
        """Return the time of a version; None when the log no longer shows it."""
        position = bisect_right(self.versions, version) - 1
        if position < 0 or self.versions[position] != version:
            return None
        return self.times_ms[position]

    def of_commit(self, position: int, info: Mapping[str, Any] | None) -> int:
        """Return the time of a version whose commitInfo is at hand.

        Args:
            position: Where it is in `versions`.
        """
        own = own_time_ms(info) if position >= self.num_of_files else None
        return self.times_ms[position] if own is None else own

    def version_at(self, time_ms: int) -> int | None:
        """Return the newest version made at or before a time."""
        low, high = self._span(time_ms)
        position = bisect_right(self.times_ms, time_ms, low, high) - 1
        return self.versions[position] if position >= low else None

    def version_from(self, time_ms: int) -> int | None:
        """Return the oldest version made at or after a time."""
        low, high = self._span(time_ms)
        position = bisect_left(self.times_ms, time_ms, low, high)
        return self.versions[position] if position < len(self.versions) else None

    def _span(self, time_ms: int) -> tuple[int, int]:
        """Return which versions a time may mean: by files, or by their own times."""
        first, count = self.num_of_files, len(self.versions)
        if first == count:
            return 0, count
        since_ms = self.since_ms
        if since_ms is None:
            since_ms = self.times_ms[first] if first else time_ms
        return (first, count) if time_ms >= since_ms else (0, first)


class OwnCommitTimes(Sequence[int]):
    """Times of versions, those that commits carry read when they are asked for.

    A commit that carries none, against the specification, has that of its file.

    Args:
        first: Position of the first version whose commit carries its time.
    """

    def __init__(self, store: LogStore, times: CommitTimes, first: int) -> None:
        self._store = store
        self._times = times
        self._first = first
        self._known: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._times.versions)

    @overload
    def __getitem__(self, position: int) -> int: ...

    @overload
    def __getitem__(self, position: slice) -> Sequence[int]: ...

    def __getitem__(self, position: int | slice) -> int | Sequence[int]:
        if isinstance(position, slice):
            return [self[at] for at in range(*position.indices(len(self)))]
        at = range(len(self))[position]
        if at < self._first:
            return self._times.times_ms[at]
        if at not in self._known:
            self._known[at] = self._read(at)
        return self._known[at]

    def __iter__(self) -> Iterator[int]:
        unknown = [at for at in range(self._first, len(self)) if at not in self._known]
        if len(unknown) > FEW_READS:
            with ThreadPoolExecutor(READERS) as pool:
                found = pool.map(self._read, unknown)
                self._known.update(zip(unknown, found, strict=True))
        for at in range(len(self)):
            yield self[at]

    def _read(self, at: int) -> int:
        times = self._times
        file_ms = times.times_ms[at]
        if times.sizes[at] is not None:
            own = own_time_ms(read_commit_info(self._store, times.versions[at]))
            return file_ms if own is None else own
        later = (n for n in range(at + 1, len(self)) if times.sizes[n] is not None)
        # A checkpoint may be made long after its version.
        commit = next(later, None)
        return file_ms if commit is None else min(file_ms, self[commit] - commit + at)


def with_own_times(
    store: LogStore, times: CommitTimes, own: OwnTimes | None
) -> CommitTimes:
    """Return the times of versions, given which commits carry them."""
    if own is None:
        return times
    first = bisect_left(times.versions, own.first_version)
    return replace(
        times,
        times_ms=OwnCommitTimes(store, times, first),
        num_of_files=first,
        since_ms=own.since_ms,
    )


def make_monotonic(statuses: Sequence[FileStatus]) -> CommitTimes:
    """Return versions and times of a listing, each time after the one before."""
    found = parse_commit_names([status.name for status in statuses])
    commits: dict[int, FileStatus] = {}
    checkpoints: dict[int, FileStatus] = {}
    for status, version in zip(statuses, found, strict=True):
        if version is not None:
            commits[version] = status
        elif (checkpoint := parse_checkpoint_name(status.name)) is not None:
            checkpoints.setdefault(checkpoint.version, status)
    versions = sorted({**commits, **checkpoints})
    statuses_of = [commits.get(v) or checkpoints[v] for v in versions]
    read_ms = [status.modification_time for status in statuses_of]
    times_ms = _each_after_the_last(np.array(read_ms, dtype=np.int64)).tolist()
    sizes = [commits[v].size if v in commits else None for v in versions]
    return CommitTimes(versions, times_ms, sizes, len(versions))


class RunningTimes:
    """Times of versions that come one after the other, made monotonic.

    Args:
        commit_ms: Times of commits' files by version, of those that a listing shows.
        checkpoint_ms: Times of versions that only a checkpoint shows, ascending.
        last_ms: Time of the version before all of them, if there is one.
        own: Which commits carry their own times; None where all go by their files.
    """

    def __init__(
        self,
        commit_ms: Mapping[int, int],
        checkpoint_ms: Mapping[int, int],
        last_ms: int | None = None,
        own: OwnTimes | None = None,
    ) -> None:
        self._own = own
        self._own_ms: int | None = None  # of the newest commit, where it has one
        self._commit_ms = commit_ms
        self._checkpoints = np.array([*checkpoint_ms], dtype=np.int64)
        self._checkpoint_ms = np.array([*checkpoint_ms.values()], dtype=np.int64)
        self._num_passed = 0  # of the checkpoints
        self._last_ms = last_ms

    def take(
        self,
        versions: Longs,
        read_ms: pa.Int64Array,
        own_ms: pa.Int64Array | None = None,
    ) -> Longs:
        """Return the times of the next commits.

        Args:
            versions: Ascending, one or more.
            read_ms: What reading showed of each; null where it did not.
            own_ms: The time that each carries; null where it carries none.
        """
        times_ms = self._file_times(versions, read_ms)
        self._own_ms = None
        if self._own is None or own_ms is None:
            return times_ms
        is_own = own_ms.is_valid().to_numpy(zero_copy_only=False)
        is_own &= versions >= self._own.first_version
        found: Longs = np.where(is_own, pc.fill_null(own_ms, 0).to_numpy(), times_ms)
        self._own_ms = int(found[-1]) if is_own[-1] else None
        return found

    def _file_times(self, versions: Longs, read_ms: pa.Int64Array) -> Longs:
        passed = self._pass_checkpoints(int(versions[-1]))
        places = np.searchsorted(versions, self._checkpoints[passed])
        later = self._make_later(
            np.insert(
                self._known_ms(versions, read_ms), places, self._checkpoint_ms[passed]
            )
        )
        return np.delete(later, places + np.arange(len(places)))

    def finish(self, version: int) -> int:
        """Return the time of the newest version: the last commit's or checkpoint's."""
        passed = self._pass_checkpoints(version)
        self._make_later(self._checkpoint_ms[passed])
        if passed.start == passed.stop and self._own_ms is not None:
            return self._own_ms
        return self._last_ms or 0

    def _pass_checkpoints(self, version: int) -> slice:
        first = self._num_passed
        self._num_passed = int(np.searchsorted(self._checkpoints, version, "right"))
        return slice(first, self._num_passed)

    def _known_ms(self, versions: Longs, read_ms: pa.Int64Array) -> Longs:
        if not read_ms.null_count:
            read: Longs = read_ms.to_numpy()
            return read
        pairs = zip(versions.tolist(), read_ms.to_pylist(), strict=True)
        listed = self._commit_ms
        return np.array(
            [listed.get(version, 0) if ms is None else ms for version, ms in pairs],
            dtype=np.int64,
        )

    def _make_later(self, times_ms: Longs) -> Longs:
        later = _each_after_the_last(times_ms, self._last_ms)
        if len(later):
            self._last_ms = int(later[-1])
        return later


def _each_after_the_last(times_ms: Longs, last_ms: int | None = None) -> Longs:
    """Return times of which each is at least one millisecond after the one before."""
    steps = np.arange(len(times_ms))
    later = np.maximum.accumulate(times_ms - steps)
    if last_ms is not None:
        later = np.maximum(later, last_ms + 1)
    found: Longs = later + steps
    return found


def parse_timestamp(
    timestamp: datetime | str, *, time_zone: str | None = None
) -> datetime:
    """Return a time with a zone.

    Args:
        timestamp: A datetime, or ISO 8601 text.
        time_zone: Whose clocks show a time without a zone: one that they leave out is
            as much later, one that they show twice is the first. None refuses it.
    """
    rules = None if time_zone is None else zone_rules(time_zone)
    try:
        moment = (
            datetime.fromisoformat(timestamp.strip())
            if isinstance(timestamp, str)
            else timestamp
        )
        if moment.utcoffset() is not None:
            return moment.astimezone(UTC)
        if rules is not None:
            clock_us = (moment.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
            [instant_us] = rules.instants(np.array([clock_us], np.int64))
            return _EPOCH + int(instant_us) * _MICROSECOND
    except (ValueError, OverflowError):
        pass
    raise TimestampInvalidError(text=str(timestamp)[:80])


def to_ms(moment: datetime) -> int:
    """Return an aware time as whole milliseconds since the epoch, rounded down.

    A double of seconds would miss the millisecond of one time in a hundred.
    """
    return (moment - _EPOCH) // _MILLISECOND


def to_datetime(time_ms: int) -> datetime:
    """Return milliseconds since the epoch as an aware datetime."""
    return _EPOCH + timedelta(milliseconds=time_ms)
