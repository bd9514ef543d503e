"""What the rules see of a table: its row, its index's summary, and its jobs."""

from collections.abc import Iterator
from datetime import datetime

from apps.tables.models import Table
from apps.tables.storage.received import is_received
from deltaweb.health.facts import INDEX_FACTS, HealthFacts
from deltaweb.health.finding import Finding


def facts_of(table: Table, *, now: datetime) -> HealthFacts:
    """Return what the rules see of a table."""
    del now
    values = {name: getattr(table, name) for name in INDEX_FACTS}
    return HealthFacts.of_index(table=table.full_name, **values)


def findings_of_app(table: Table, *, now: datetime) -> Iterator[Finding]:
    """Yield findings that are about what this server does with a table."""
    del table, now
    yield from ()


def has_owner_here(table: Table) -> bool:
    """Whether this server may change the table."""
    return not is_received(table.location)
