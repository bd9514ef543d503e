"""All rules over the facts of one table."""

from datetime import datetime

from deltaweb.health.facts import HealthFacts
from deltaweb.health.finding import Finding
from deltaweb.health.rules import RULES
from deltaweb.health.thresholds import Thresholds


def examine(
    facts: HealthFacts, thresholds: Thresholds, now: datetime
) -> tuple[Finding, ...]:
    """Return the findings of a table, the most severe first."""
    found = [one for rule in RULES for one in rule.find(facts, thresholds, now)]
    return tuple(sorted(found, key=lambda one: one.severity.rank))
