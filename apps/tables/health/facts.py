"""What the rules see of a table: its row, its index's summary, and its jobs."""

import shlex
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from apps.tables.health.known import with_known
from apps.tables.health.repeats.resources import LABELS
from apps.tables.models import RepeatedOperation, Table
from apps.tables.storage.received import is_received
from deltaweb.health.facts import INDEX_FACTS, HealthFacts
from deltaweb.health.finding import Cost, Fact, Finding, HealthRemedy, Severity
from deltaweb.words import counted

REPEAT_FAILS: Final = "repeat-fails"
FAILURES: Final = 2
"""Failures in a row from which they are a finding."""


def facts_of(table: Table, *, now: datetime) -> HealthFacts:
    """Return what the rules see of a table."""
    values = {name: getattr(table, name) for name in INDEX_FACTS}
    facts = HealthFacts.of_index(table=table.full_name, **values)
    return with_known(facts, table, now=now)


def findings_of_app(table: Table) -> Iterator[Finding]:
    """Yield findings that are about what this server does with a table."""
    for repeat in table.repeated_operations.filter(failures__gte=FAILURES):
        yield _failing(repeat, table)


def _failing(repeat: RepeatedOperation, table: Table) -> Finding:
    label, times = LABELS[repeat.operation], counted(repeat.failures, "time")
    return Finding(
        rule=REPEAT_FAILS,
        subject=repeat.operation,
        severity=Severity.ACT_NOW,
        sentence=f"The scheduled `{repeat.operation}` failed {times} in a row.",
        evidence=(
            Fact("Schedule", repeat.words),
            Fact("Failures in a row", repeat.failures, "failures"),
            Fact("Last error", repeat.last_result),
        ),
        cost=Cost(repeat.failures, "runs", "had no effect"),
        remedy=HealthRemedy(
            operation=repeat.operation,
            label=label,
            command=shlex.join(
                ["deltaweb", "table", repeat.operation, table.full_name]
            ),
        ),
    )


def has_owner_here(table: Table) -> bool:
    """Whether this server may change the table."""
    return not is_received(table.location)
