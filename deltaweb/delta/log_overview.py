"""One listing of a whole log, and all that names, sizes and times say of it."""

from dataclasses import dataclass

from deltaweb.delta.commit_times import CommitTimes, make_monotonic
from deltaweb.delta.log_path import FIRST_NAME, parse_commit_names
from deltaweb.delta.log_segment import (
    LogListing,
    VersionRun,
    no_table,
    parse_listing,
    readable_runs,
)
from deltaweb.delta.log_store import LogStore


@dataclass(frozen=True, slots=True, eq=False)
class LogOverview:
    """What a log shows without a file of it being read.

    Attributes:
        listing: Its commits and checkpoints.
        times: Its versions and their times.
        runs: The versions that its names can build, ascending.
    """

    listing: LogListing
    times: CommitTimes
    runs: list[VersionRun]


def load_log_overview(store: LogStore) -> LogOverview:
    """List a whole log, once.

    Raises:
        TableNotFoundError: If there is no log.
    """
    statuses = store.list_from(FIRST_NAME)
    names = [status.name for status in statuses]
    versions = parse_commit_names(names)
    listing = parse_listing(names, is_whole=True, versions=versions)
    if listing.latest_version is None:
        raise no_table(store)
    return LogOverview(
        listing, make_monotonic(statuses, versions), readable_runs(listing)
    )
