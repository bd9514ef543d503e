"""Findings for tests: as a rule returns them, and as rows."""

from datetime import datetime
from typing import Any

from apps.tables.health.storing import keep_findings
from apps.tables.models import StoredFinding, Table
from deltaweb.health.finding import Cost, Fact, Finding, HealthRemedy, Severity
from tests.support.pages.factories import NOW


def finding(rule: str = "small-files", **fields: Any) -> Finding:  # noqa: ANN401 (its fields)
    """A finding that costs something, with a remedy."""
    defaults: dict[str, Any] = {
        "severity": Severity.COSTS,
        "sentence": "84 files of 3 KiB; one file of 252 KiB would do.",
        "evidence": (Fact("Small files", 84, "files"),),
        "cost": Cost(83, "files", "more to open for a full scan"),
        "remedy": HealthRemedy(
            operation="optimize",
            label="Optimize",
            command="deltaweb table optimize orders",
        ),
    }
    return Finding(rule=rule, **{**defaults, **fields})


def stored(
    table: Table,
    *found: Finding,
    now: datetime = NOW,
) -> list[StoredFinding]:
    """Keep findings of a table, and return its open ones."""
    keep_findings(table, found or [finding()], now=now)
    return list(StoredFinding.objects.open().filter(table=table))
