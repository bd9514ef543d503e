"""The times of a table's versions, by whatever keeps them: its commits, or their files.

Which of the two it is, the newest version says.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from deltaweb.delta.errors import DeltaError, TimestampNotFoundError
from deltaweb.delta.features.in_commit_timestamps import OwnTimes, own_times
from deltaweb.delta.log.commits.info import own_time_ms, read_commit_info
from deltaweb.delta.log.commits.times import (
    CommitTimes,
    make_monotonic,
    parse_timestamp,
    to_datetime,
    to_ms,
    with_own_times,
)
from deltaweb.delta.log.paths import FIRST_NAME
from deltaweb.delta.log.segment import no_table, parse_listing, readable_runs
from deltaweb.delta.log.store import FileStatus, LogStore
from deltaweb.delta.snapshot.state import load_definition


def load_commit_times(store: LogStore) -> CommitTimes:
    """List the whole log, and return the times of its versions."""
    return _times_of(store, store.list_from(FIRST_NAME))


def _times_of(store: LogStore, statuses: Sequence[FileStatus]) -> CommitTimes:
    times = make_monotonic(statuses)
    return with_own_times(store, times, _find_own(store, times))


def _find_own(store: LogStore, times: CommitTimes) -> OwnTimes | None:
    """Return which commits carry their own times.

    If any do, then the newest: of most tables a look at that one is enough.
    """
    if not times.versions:
        return None
    if times.sizes[-1] is not None:
        newest = read_commit_info(store, times.versions[-1])
        if own_time_ms(newest) is None:
            return None
    with suppress(DeltaError):  # a log that is broken has times all the same
        definition = load_definition(store)
        return own_times(definition.protocol, definition.metadata)
    return None


def find_version(
    store: LogStore, timestamp: datetime | str, *, time_zone: str | None = None
) -> int:
    """Return the newest version made at or before a time.

    Args:
        time_zone: Whose clocks show a time without a zone; None refuses it.

    Raises:
        TableNotFoundError: If the log is empty.
        TimestampInvalidError: If the time is not one, or has no zone.
        TimestampNotFoundError: If the readable log begins later.
    """
    moment = parse_timestamp(timestamp, time_zone=time_zone)
    statuses = store.list_from(FIRST_NAME)
    times = _times_of(store, statuses)
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
