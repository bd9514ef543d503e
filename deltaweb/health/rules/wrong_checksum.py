"""A checksum file that differs from the log."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from deltaweb.delta.snapshot.checksum import ChecksumState
from deltaweb.health.facts import HealthFacts
from deltaweb.health.finding import Cost, Fact, Finding, Severity
from deltaweb.health.rule import Rule
from deltaweb.health.thresholds import Thresholds

NAME: Final = "wrong-checksum"


def find(
    facts: HealthFacts, _thresholds: Thresholds, _now: datetime
) -> Iterator[Finding]:
    """Read the verdict on the newest version; a missing file is no finding."""
    verdict = facts.checksum
    if verdict is None or facts.version is None:
        return
    if verdict.state is ChecksumState.WRONG:
        fields = ", ".join(verdict.differences)
        yield Finding(
            rule=NAME,
            severity=Severity.ACT_NOW,
            sentence=f"The checksum file of version {facts.version:,} differs from "
            f"the log in {fields}.",
            evidence=(Fact("Different", fields),),
            cost=Cost(1, "versions", "that readers with validation refuse"),
            since=facts.committed_at,
        )
    elif verdict.state is ChecksumState.UNREADABLE:
        yield Finding(
            rule=NAME,
            severity=Severity.TO_KNOW,
            sentence=f"The checksum file of version {facts.version:,} cannot be read.",
            since=facts.committed_at,
        )


RULE: Final = Rule(
    name=NAME,
    title="Wrong checksum",
    about="The log may have lost a file, and readers with validation refuse the table.",
    advice="Delete the checksum file if the log is complete, or restore the log.",
    severities=(Severity.ACT_NOW, Severity.TO_KNOW),
    find=find,
)
