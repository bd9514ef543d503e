"""The versions of a range of changes, and what holds at each of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa

from deltaweb.delta.errors import VersionNotFoundError
from deltaweb.delta.features.change_feed import CHANGE_DATA_FEED_PROPERTY
from deltaweb.delta.features.column_mapping import has_mapped_columns
from deltaweb.delta.features.registry import reading_refusal
from deltaweb.delta.feed.errors import FeedOffError, FeedRangeError
from deltaweb.delta.log.commits.arrow_reader import ActionBatch
from deltaweb.delta.log.commits.fields import METADATA, PROTOCOL
from deltaweb.delta.log.commits.reading import parsed_commits
from deltaweb.delta.log.commits.times import CommitTimes, parse_timestamp, to_ms
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.protocol.action_values import parse_metadata, parse_protocol
from deltaweb.delta.protocol.actions import Metadata
from deltaweb.delta.snapshot.state import Definition, load_definition

Moment = datetime | str | None


@dataclass(frozen=True, slots=True)
class VersionRange:
    """Versions `first` to `last`, both included, of which each has a commit."""

    first: int
    last: int
    times: CommitTimes

    @property
    def versions(self) -> Sequence[int]:
        return range(self.first, self.last + 1)


def find_range(
    root: str,
    times: CommitTimes,
    *,
    versions: tuple[int | None, int | None],
    timestamps: tuple[Moment, Moment],
    time_zone: str | None = None,
) -> VersionRange:
    """Return the range between two versions or times.

    Args:
        versions: The first and the last one; None for the first and the last there is.
        timestamps: Or the times that they were made at: the first version from the
            one on, the last one up to the other.
        time_zone: Whose clocks show times without a zone; None refuses these.
    """
    if any(
        version is not None and moment is not None
        for version, moment in zip(versions, timestamps, strict=True)
    ):
        message = "give a version or a timestamp, not both"
        raise ValueError(message)
    first, last = versions
    start, end = (
        None if moment is None else parse_timestamp(moment, time_zone=time_zone)
        for moment in timestamps
    )
    commits = [
        version
        for version, size in zip(times.versions, times.sizes, strict=True)
        if size is not None
    ]
    if not commits:
        raise FeedRangeError(root=root, reason="its log has no commit")
    if first is None:
        first = commits[0] if start is None else _first_from(root, times, start)
    if last is None:
        last = commits[-1] if end is None else _last_to(root, times, end)
    missing = {first, last}.difference(commits) or {*range(first, last + 1)}.difference(
        commits
    )
    if missing:
        raise VersionNotFoundError(
            root=root, version=min(missing), earliest=commits[0], latest=commits[-1]
        )
    if first > last:
        reason = f"it begins at version {first} and ends at version {last}"
        raise FeedRangeError(root=root, reason=reason)
    return VersionRange(first, last, times)


def _first_from(root: str, times: CommitTimes, moment: datetime) -> int:
    version = times.version_from(_ms_up(moment))
    if version is None:
        reason = f"no version was made at or after {moment}"
        raise FeedRangeError(root=root, reason=reason)
    return version


def _last_to(root: str, times: CommitTimes, moment: datetime) -> int:
    version = times.version_at(to_ms(moment))
    if version is None:
        reason = f"no version was made at or before {moment}"
        raise FeedRangeError(root=root, reason=reason)
    return version


def _ms_up(moment: datetime) -> int:
    """Return a time in milliseconds, rounded up: what is earlier is not from it on."""
    return to_ms(moment) + (moment.microsecond % 1_000 > 0)


def has_feed(metadata: Metadata) -> bool:
    """Tell whether a table records its changes."""
    return is_feed_on(metadata.configuration)


def is_feed_on(configuration: Mapping[str, object]) -> bool:
    """Tell whether the properties of a table say that it records its changes."""
    return str(configuration.get(CHANGE_DATA_FEED_PROPERTY, "")).lower() == "true"


def definitions(
    store: LogStore,
    start: Definition,
    batches: Iterator[tuple[int, ActionBatch]],
    *,
    with_feed: bool = True,
) -> Iterator[Definition]:
    """Yield what holds at the first version, and at each that changes it.

    Args:
        batches: The commits, each batch with the version of its first one.
        with_feed: Whether each version has to record its changes.
    """
    _check(store.root, start, with_feed=with_feed)
    yield start
    now = start
    for first, batch in batches:
        protocols, metadata = (
            dict(batch.objects(PROTOCOL)),
            dict(batch.objects(METADATA)),
        )
        for at in sorted({*protocols, *metadata}):
            if first + at == start.version:
                continue
            path = batch.paths[at]
            now = Definition(
                first + at,
                parse_protocol(protocols[at], path=path)
                if at in protocols
                else now.protocol,
                parse_metadata(metadata[at], path=path)
                if at in metadata
                else now.metadata,
            )
            _check(store.root, now, with_feed=with_feed)
            yield now


def _check(root: str, at: Definition, *, with_feed: bool) -> None:
    refusal = reading_refusal(at.protocol, at.metadata, root=root, version=at.version)
    if refusal is not None:
        raise refusal
    if with_feed and not has_feed(at.metadata):
        raise FeedOffError(root=root, version=at.version)


def shown_definition(
    store: LogStore, versions: VersionRange, end: Definition
) -> Definition:
    """Return the version whose schema all changes of a range are shown in."""
    is_newest = versions.last == versions.times.versions[-1]
    if is_newest or has_mapped_columns(end.protocol, end.metadata):
        return end
    newest = load_definition(store)
    is_mapped = has_mapped_columns(newest.protocol, newest.metadata)
    return end if is_mapped else newest


def range_commits(
    store: LogStore, versions: VersionRange, schema: pa.Schema
) -> Iterator[tuple[int, ActionBatch]]:
    """Yield the commits of a range, each batch with the version of its first one."""
    names = [commit_name(version) for version in versions.versions]
    first = versions.first
    for _, batch in parsed_commits(store, names, schema):
        yield first, batch
        first += len(batch.paths)
