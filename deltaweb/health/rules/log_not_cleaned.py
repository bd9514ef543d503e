"""Commits that are older than the retention of the log."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from deltaweb.health.facts import HealthFacts, milliseconds, moment_of
from deltaweb.health.finding import Cost, Fact, Finding, HealthRemedy, Severity
from deltaweb.health.rule import Rule
from deltaweb.health.thresholds import Thresholds
from deltaweb.words import length_text

NAME: Final = "log-not-cleaned"


def find(
    facts: HealthFacts, thresholds: Thresholds, now: datetime
) -> Iterator[Finding]:
    """Count the commits that a clean-up may delete, which an old checkpoint allows."""
    log, history = facts.log, facts.history
    if log is None or history is None or log.first_commit is None:
        return
    if log.retention_ms is None or log.oldest_checkpoint is None:
        return
    cut = history.before(milliseconds(now) - log.retention_ms)
    if cut is None or log.oldest_checkpoint > cut.version:
        return
    end = min(cut.version, log.newest_checkpoint or 0)
    # What is missing cannot be deleted.
    missing = sum(max(min(last + 1, end) - first, 0) for first, last in facts.holes)
    count = end - log.first_commit - missing
    if count < thresholds.expired_commits:
        return
    first = history.time_of(log.first_commit)
    retention = length_text(log.retention_ms // 1000)
    off = "" if log.is_cleaned else ", and the table lets no writer clean it up"
    yield Finding(
        rule=NAME,
        severity=Severity.COSTS,
        sentence=f"About {count:,} commits are older than the log's retention of "
        f"{retention}{off}.",
        evidence=(
            Fact("Oldest commit", f"v{log.first_commit}"),
            Fact("Retention of the log", retention),
            Fact("Older commits, about", count, "commits"),
            Fact("Writers clean up", "yes" if log.is_cleaned else "no"),
        ),
        cost=Cost(count, "files", "more in each listing of the log"),
        remedy=HealthRemedy(
            operation="cleanup",
            label="Clean up",
            command=facts.command("cleanup"),
        ),
        since=first and moment_of(milliseconds(first) + log.retention_ms),
    )


RULE: Final = Rule(
    name=NAME,
    title="Log never cleaned",
    about="Each old commit makes listings of the log longer, and storage larger.",
    advice="Clean up the log, which deletes old commits before a checkpoint.",
    thresholds=("expired_commits",),
    severities=(Severity.COSTS,),
    find=find,
)
