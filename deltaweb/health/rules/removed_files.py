"""Files that left the table before its retention, and are still stored."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from deltaweb.health.facts import HealthFacts, ListedFolder, milliseconds, moment_of
from deltaweb.health.finding import (
    Cost,
    Fact,
    Finding,
    HealthRemedy,
    Severity,
    about_bytes,
)
from deltaweb.health.rule import Rule
from deltaweb.health.thresholds import Thresholds
from deltaweb.words import counted, length_text

NAME: Final = "removed-files"


def find(
    facts: HealthFacts, thresholds: Thresholds, now: datetime
) -> Iterator[Finding]:
    """Take the last listing of the folder; without one, what the history says."""
    if facts.file_retention_ms is None:
        return
    least = max(
        thresholds.removed_bytes,
        (facts.size_bytes or 0) * thresholds.removed_percent // 100,
    )
    listing = facts.listing
    if listing is None:
        yield from _by_history(facts, least, milliseconds(now))
    elif listing.removed_bytes >= least:
        yield _by_listing(facts, listing)


def _by_listing(facts: HealthFacts, listing: ListedFolder) -> Finding:
    size_bytes, files = listing.removed_bytes, listing.removed_files
    retention = length_text((facts.file_retention_ms or 0) // 1000)
    return Finding(
        rule=NAME,
        severity=Severity.COSTS,
        sentence=f"{about_bytes(size_bytes)} of removed files are older than the "
        f"retention of {retention}.",
        evidence=(
            Fact("Removed files beyond the retention", files, "files"),
            Fact("Their size", size_bytes, "bytes"),
            Fact("Versions that a vacuum ends", listing.num_lost, "versions"),
            Fact("Folder listed at", f"{listing.listed_at:%Y-%m-%d %H:%M} UTC"),
        ),
        cost=Cost(size_bytes, "bytes", "could be freed"),
        remedy=_vacuum(facts),
    )


def _by_history(facts: HealthFacts, least: int, now_ms: int) -> Iterator[Finding]:
    retention_ms, history = facts.file_retention_ms or 0, facts.history
    cut = None if history is None else history.before(now_ms - retention_ms)
    if history is None or cut is None or history.oldest_removal_ms is None:
        return
    files, size_bytes = cut.removed_files, cut.removed_bytes
    if files is None or size_bytes is None or size_bytes < least:
        return
    retention = length_text(retention_ms // 1000)
    oldest = moment_of(history.oldest_removal_ms)
    vacuum = "and the log has no VACUUM"
    if history.vacuum_cutoff_ms is not None:
        vacuum = "after the last VACUUM"
    yield Finding(
        rule=NAME,
        severity=Severity.COSTS,
        sentence=f"{about_bytes(size_bytes)} in {counted(files, 'file')} were removed "
        f"more than {retention} ago, {vacuum}.",
        evidence=(
            Fact("Removed files, by the log", files, "files"),
            Fact("Their size", size_bytes, "bytes"),
            Fact("Oldest removed on", f"{oldest:%Y-%m-%d}"),
            Fact("Retention", retention),
        ),
        cost=Cost(size_bytes, "bytes", "could be freed if they are still stored"),
        remedy=_vacuum(facts),
        since=moment_of(history.oldest_removal_ms + retention_ms),
    )


def _vacuum(facts: HealthFacts) -> HealthRemedy:
    return HealthRemedy(
        operation="vacuum", label="Vacuum", command=facts.command("vacuum")
    )


RULE: Final = Rule(
    name=NAME,
    title="Removed files beyond the retention",
    about="Removed files cost storage until a vacuum deletes them.",
    advice="Run a vacuum, which deletes these files and ends the versions they are in.",
    thresholds=("removed_bytes", "removed_percent"),
    severities=(Severity.COSTS,),
    find=find,
)
