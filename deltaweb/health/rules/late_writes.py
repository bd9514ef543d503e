"""A table that is no longer written."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from deltaweb.health.facts import HealthFacts, WriteRhythm, milliseconds, moment_of
from deltaweb.health.finding import (
    SECONDS,
    Cost,
    Fact,
    Finding,
    HealthRemedy,
    Severity,
    about_length,
)
from deltaweb.health.rule import Rule
from deltaweb.health.thresholds import Thresholds

NAME: Final = "late-writes"
LEAST_WRITES: Final = 20
LEAST_SPAN: Final = timedelta(days=2)
LEAST_PAUSE: Final = timedelta(days=1)


def find(
    facts: HealthFacts, thresholds: Thresholds, now: datetime
) -> Iterator[Finding]:
    """Compare the time since the last write with the pauses before it."""
    writes = facts.writes
    if thresholds.late_minutes and writes is not None:
        yield from _beyond_limit(writes, thresholds.late_minutes, now)
        return
    if writes is None or writes.num_writes < LEAST_WRITES:
        return
    if writes.last_ms - writes.first_ms < LEAST_SPAN / timedelta(milliseconds=1):
        return
    pause_ms = milliseconds(now) - writes.last_ms
    limit_ms = max(
        thresholds.late_times * writes.longest_gap_ms,
        round(LEAST_PAUSE / timedelta(milliseconds=1)),
    )
    if pause_ms < limit_ms:
        return
    lengths_ms = (pause_ms, writes.typical_gap_ms, writes.longest_gap_ms)
    pause, usual, longest = (about_length(ms / 1000) for ms in lengths_ms)
    before = f"a pause was usually {usual}, and {longest} at most"
    if usual == longest:
        before = f"no pause was longer than {usual}"
    yield Finding(
        rule=NAME,
        severity=Severity.TO_KNOW,
        sentence=f"Last written {pause} ago. Before, {before}.",
        evidence=(
            Fact("Last write", f"{moment_of(writes.last_ms):%Y-%m-%d %H:%M} UTC"),
            Fact("Usual pause", usual),
            Fact("Longest pause", longest),
            Fact("Writes that were compared", writes.num_writes, "writes"),
        ),
        cost=Cost(pause_ms // 1000, SECONDS, "since the newest rows were written"),
        remedy=HealthRemedy(operation="history", label="See history"),
        since=moment_of(writes.last_ms + writes.longest_gap_ms),
    )


def _beyond_limit(
    writes: WriteRhythm, late_minutes: int, now: datetime
) -> Iterator[Finding]:
    """Compare the time since the last write with a declared limit."""
    pause_ms, limit_s = milliseconds(now) - writes.last_ms, 60 * late_minutes
    if pause_ms <= 1000 * limit_s:
        return
    pause, limit = about_length(pause_ms / 1000), about_length(limit_s)
    yield Finding(
        rule=NAME,
        severity=Severity.ACT_NOW,
        sentence=f"Last written {pause} ago. The limit of its namespace is {limit}.",
        evidence=(
            Fact("Last write", f"{moment_of(writes.last_ms):%Y-%m-%d %H:%M} UTC"),
            Fact("Limit", late_minutes, "minutes"),
        ),
        cost=Cost(pause_ms // 1000, SECONDS, "since the newest rows were written"),
        remedy=HealthRemedy(operation="history", label="See history"),
        since=moment_of(writes.last_ms + 1000 * limit_s),
    )


RULE: Final = Rule(
    name=NAME,
    title="No longer written",
    about="Rows may be old: the table was written more often before.",
    advice="Check the job that writes the table; mute this if the pause is planned.",
    thresholds=("late_times", "late_minutes"),
    severities=(Severity.ACT_NOW, Severity.TO_KNOW),
    find=find,
)
