"""One listing of a whole log, and all that names and times say of it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from deltaweb.delta.log.paths import (
    FIRST_NAME,
    parse_checkpoint_name,
    parse_commit_names,
)
from deltaweb.delta.log.segment import (
    LogListing,
    VersionRun,
    no_table,
    parse_listing,
    readable_runs,
)
from deltaweb.delta.log.store import LogStore


@dataclass(frozen=True, slots=True, eq=False)
class LogOverview:
    """What a log shows without a file of it being read.

    Attributes:
        runs: The versions that its names can build, ascending.
        commit_ms: Times of the commits' files by version; none where reading them
            tells these.
        checkpoint_ms: Times of the versions that only a checkpoint shows, ascending.
    """

    listing: LogListing
    runs: list[VersionRun]
    commit_ms: Mapping[int, int]
    checkpoint_ms: Mapping[int, int]


def load_log_overview(store: LogStore) -> LogOverview:
    """List a whole log, once."""
    times_ms: dict[str, int] = {}
    if store.reads_tell_times:
        names = store.list_names_from(FIRST_NAME)
    else:
        statuses = store.list_from(FIRST_NAME)
        times_ms = {status.name: status.modification_time for status in statuses}
        names = [*times_ms]
    versions = parse_commit_names(names)
    listing = parse_listing(names, is_whole=True, versions=versions)
    if listing.latest_version is None:
        raise no_table(store)
    found = zip(versions, times_ms.values(), strict=False)  # no times for many names
    others = [
        name for name, version in zip(names, versions, strict=True) if version is None
    ]
    return LogOverview(
        listing,
        readable_runs(listing),
        commit_ms={version: ms for version, ms in found if version is not None},
        checkpoint_ms=_checkpoint_ms(store, listing.commits, others, times_ms),
    )


def _checkpoint_ms(
    store: LogStore,
    commits: Sequence[int],
    names: Sequence[str],
    times_ms: Mapping[str, int],
) -> dict[int, int]:
    """Return the time of the first checkpoint file of each version without a commit."""
    with_commit = set(commits)
    first: dict[int, str] = {}
    for name in names:
        checkpoint = parse_checkpoint_name(name)
        if checkpoint is not None and checkpoint.version not in with_commit:
            first.setdefault(checkpoint.version, name)
    found = {}
    for version, name in sorted(first.items()):
        with suppress(FileNotFoundError):  # a clean-up was quicker
            known = times_ms.get(name)
            found[version] = (
                store.status(name).modification_time if known is None else known
            )
    return found
