"""A feature that keeps known readers from the table."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from deltaweb.health.facts import HealthFacts
from deltaweb.health.finding import Cost, Fact, Finding, HealthRemedy, Severity
from deltaweb.health.rule import Rule
from deltaweb.health.thresholds import Thresholds

NAME: Final = "stopped-readers"
READERS: Final = HealthRemedy(operation="readers", label="See readers")


def find(
    facts: HealthFacts, _thresholds: Thresholds, _now: datetime
) -> Iterator[Finding]:
    """Look for clients that read the table before, and at what this server reads."""
    for reader in facts.stopped_readers:
        why = f" The table requires `{reader.feature}`." if reader.feature else ""
        yield Finding(
            rule=NAME,
            subject=reader.client,
            severity=Severity.ACT_NOW,
            sentence=f"{reader.client} read the table before, and cannot read version "
            f"{reader.version:,} or later.{why}",
            evidence=(
                Fact("Client", reader.client),
                # Viewers may see a finding, and no recipient.
                Fact("Reads for", len(reader.recipients), "recipients"),
            ),
            cost=Cost(len(reader.recipients), "recipients", "cannot read the table"),
            remedy=READERS,
        )
    if facts.refusal:
        yield Finding(
            rule=NAME,
            subject="deltaweb",
            severity=Severity.TO_KNOW,
            sentence=f"deltaweb does not show or share its rows. {facts.refusal}",
            cost=Cost(files, "files", "that this server cannot show or share")
            if (files := facts.num_files)
            else None,
            remedy=READERS,
            since=facts.committed_at,
        )


RULE: Final = Rule(
    name=NAME,
    title="A feature stops readers",
    about="A client refuses a table that requires a feature it does not know.",
    advice="Update the client or server that refuses it, or drop an unused feature.",
    severities=(Severity.ACT_NOW, Severity.TO_KNOW),
    find=find,
)
