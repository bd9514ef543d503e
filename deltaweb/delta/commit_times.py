"""When each version was made, and which version a time means.

The time of a version is the time of its commit file, made monotonic: copies and clocks
can put a later commit before an earlier one. What a writer claims in commitInfo is
for display only.

Source: delta_protocol.md, "Delta Log Entries"; the reference implementation's rule
for files that are not in order.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa

from deltaweb.delta.action_json import Longs
from deltaweb.delta.errors import (
    TimestampInvalidError,
    TimestampNotFoundError,
)
from deltaweb.delta.log_path import (
    FIRST_NAME,
    parse_checkpoint_name,
    parse_commit_names,
)
from deltaweb.delta.log_segment import no_table, parse_listing, readable_runs
from deltaweb.delta.log_store import FileStatus, LogStore

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class CommitTimes:
    """The versions that the log shows, and the time of each.

    Attributes:
        versions: Ascending; versions of checkpoints without a commit are among them.
        times_ms: For each, milliseconds since the Unix epoch, strictly increasing.
        sizes: For each, the size of its commit file in bytes; None without one.
    """

    versions: Sequence[int]
    times_ms: Sequence[int]
    sizes: Sequence[int | None]

    def time_ms(self, version: int) -> int | None:
        """Return the time of a version; None when the log no longer shows it."""
        position = bisect_right(self.versions, version) - 1
        if position < 0 or self.versions[position] != version:
            return None
        return self.times_ms[position]

    def version_at(self, time_ms: int) -> int | None:
        """Return the newest version made at or before a time."""
        position = bisect_right(self.times_ms, time_ms) - 1
        return self.versions[position] if position >= 0 else None


def load_commit_times(store: LogStore) -> CommitTimes:
    """List the whole log and make the times of its versions monotonic."""
    return make_monotonic(store.list_from(FIRST_NAME))


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
    return CommitTimes(versions, times_ms, sizes)


class RunningTimes:
    """Times of versions that come one after the other, made monotonic.

    Args:
        commit_ms: Times of commits' files by version, of those that a listing tells.
        checkpoint_ms: Times of versions that only a checkpoint shows, ascending.
        last_ms: Time of the version before all of them, if there is one.
    """

    def __init__(
        self,
        commit_ms: Mapping[int, int],
        checkpoint_ms: Mapping[int, int],
        last_ms: int | None = None,
    ) -> None:
        self._commit_ms = commit_ms
        self._checkpoints = np.array([*checkpoint_ms], dtype=np.int64)
        self._checkpoint_ms = np.array([*checkpoint_ms.values()], dtype=np.int64)
        self._num_passed = 0  # of the checkpoints
        self._last_ms = last_ms

    def take(self, versions: Longs, read_ms: pa.Int64Array) -> Longs:
        """Return the times of the next commits.

        Args:
            versions: Ascending, one or more.
            read_ms: What reading told of each; null where it did not.
        """
        passed = self._pass_checkpoints(int(versions[-1]))
        places = np.searchsorted(versions, self._checkpoints[passed])
        later = self._make_later(
            np.insert(
                self._told_ms(versions, read_ms), places, self._checkpoint_ms[passed]
            )
        )
        return np.delete(later, places + np.arange(len(places)))

    def finish(self, version: int) -> int:
        """Return the time of the newest version: the last commit's or checkpoint's."""
        self._make_later(self._checkpoint_ms[self._pass_checkpoints(version)])
        return self._last_ms or 0

    def _pass_checkpoints(self, version: int) -> slice:
        first = self._num_passed
        self._num_passed = int(np.searchsorted(self._checkpoints, version, "right"))
        return slice(first, self._num_passed)

    def _told_ms(self, versions: Longs, read_ms: pa.Int64Array) -> Longs:
        if not read_ms.null_count:
            read: Longs = read_ms.to_numpy()
            return read
        told = zip(versions.tolist(), read_ms.to_pylist(), strict=True)
        listed = self._commit_ms
        return np.array(
            [listed.get(version, 0) if ms is None else ms for version, ms in told],
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


def find_version(store: LogStore, timestamp: datetime | str) -> int:
    """Return the newest version made at or before a time.

    Raises:
        TableNotFoundError: If the log is empty.
        TimestampInvalidError: If the time is not one, or has no zone.
        TimestampNotFoundError: If the readable log begins later.
    """
    moment = parse_timestamp(timestamp)
    statuses = store.list_from(FIRST_NAME)
    times = make_monotonic(statuses)
    runs = readable_runs(
        parse_listing((status.name for status in statuses), is_whole=True)
    )
    if not runs:
        raise no_table(store)
    time_ms = to_ms(moment)
    earliest_ms = times.time_ms(runs[0].first) or 0
    version = times.version_at(time_ms)
    if version is None or version < runs[0].first:
        raise TimestampNotFoundError(
            root=store.root,
            timestamp=moment,
            earliest=to_datetime(earliest_ms),
            latest=to_datetime(times.times_ms[-1]),
        )
    return version


def parse_timestamp(timestamp: datetime | str) -> datetime:
    """Return a time with a zone.

    Raises:
        TimestampInvalidError: If the text is not ISO 8601, or the time has no zone.
    """
    try:
        moment = (
            datetime.fromisoformat(timestamp.strip())
            if isinstance(timestamp, str)
            else timestamp
        )
        if moment.utcoffset() is not None:
            return moment.astimezone(UTC)
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
