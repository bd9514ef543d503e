"""Commits that are missing or do not read."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from deltaweb.health.facts import HealthFacts
from deltaweb.health.finding import Cost, Fact, Finding, Severity
from deltaweb.health.rule import Rule
from deltaweb.health.thresholds import Thresholds

NAME: Final = "log-gap"


def find(
    facts: HealthFacts, _thresholds: Thresholds, _now: datetime
) -> Iterator[Finding]:
    """Look for what hides newer versions, and for holes in the history."""
    if facts.fault:
        shown = "No version can be read"
        if facts.version is not None:
            shown = f"Readers fail, or get version {facts.version:,} at most"
        yield Finding(
            rule=NAME,
            subject="newest",
            severity=Severity.ACT_NOW,
            sentence=f"{shown}: {facts.fault}.",
            evidence=(Fact("In the log", facts.fault),),
        )
    for first, last in facts.holes:
        count = last - first + 1
        span = f"version {first:,}" if count == 1 else f"versions {first:,} to {last:,}"
        yield Finding(
            rule=NAME,
            subject=str(first),
            severity=Severity.TO_KNOW,
            sentence=f"The log has a hole: {span} cannot be read.",
            evidence=(Fact("Missing", count, "versions"),),
            cost=Cost(count, "versions", "that cannot be read or restored"),
        )


RULE: Final = Rule(
    name=NAME,
    title="Gap in the log",
    about="A reader cannot build a version without each commit since the checkpoint.",
    advice="Put the missing file of `_delta_log` back from a backup.",
    severities=(Severity.ACT_NOW, Severity.TO_KNOW),
    find=find,
)
