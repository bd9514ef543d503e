"""Versions that the next scheduled vacuum makes unreadable."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from deltaweb.health.facts import HealthFacts
from deltaweb.health.finding import Cost, Fact, Finding, HealthRemedy, Severity
from deltaweb.health.rule import Rule
from deltaweb.health.thresholds import Thresholds

NAME: Final = "versions-ending"


def find(
    facts: HealthFacts, thresholds: Thresholds, now: datetime
) -> Iterator[Finding]:
    """Look at the next vacuum of a schedule."""
    vacuum = facts.scheduled_vacuum
    if vacuum is None:
        return
    if vacuum.next_at - now > timedelta(hours=thresholds.vacuum_notice_hours):
        return
    first, last = vacuum.first_lost, vacuum.last_lost
    count = last - first + 1
    if count < 1:
        return
    span = f"Version {first:,}"
    if count > 1:
        span = f"Up to {count:,} versions, {first:,} to {last:,},"
    yield Finding(
        rule=NAME,
        severity=Severity.TO_KNOW,
        sentence=f"{span} can no longer be read after the vacuum of "
        f"{vacuum.next_at:%Y-%m-%d %H:%M} UTC.",
        evidence=(
            Fact("Next vacuum", f"{vacuum.next_at:%Y-%m-%d %H:%M} UTC"),
            Fact("It keeps removed files for", round(vacuum.hours), "hours"),
            Fact("Versions that end", count, "versions"),
        ),
        cost=Cost(count, "versions", "that cannot be read or restored"),
        remedy=HealthRemedy(
            operation="vacuum",
            label="See what goes",
            parameters={"hours": f"{vacuum.hours:g}"},
            command=facts.command(
                "vacuum", "--retention", f"{vacuum.hours:g}h", "--dry-run"
            ),
        ),
    )


RULE: Final = Rule(
    name=NAME,
    title="Versions about to end",
    about="A vacuum deletes the files of old versions for good.",
    advice="If these versions are still read, let the schedule keep files longer.",
    thresholds=("vacuum_notice_hours",),
    severities=(Severity.TO_KNOW,),
    find=find,
)
