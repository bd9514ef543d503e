"""A `_last_checkpoint` that is of no use to readers."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from deltaweb.health.facts import HealthFacts
from deltaweb.health.finding import Fact, Finding, HealthRemedy, Severity
from deltaweb.health.rule import Rule
from deltaweb.health.thresholds import Thresholds

NAME: Final = "dangling-hint"


def find(
    facts: HealthFacts, _thresholds: Thresholds, _now: datetime
) -> Iterator[Finding]:
    """Compare the hint with the checkpoints of the log."""
    log = facts.log
    if log is None or not (log.is_hint_dangling or log.is_hint_broken):
        return
    newest = log.newest_checkpoint
    named, says = "no version", "`_last_checkpoint` cannot be read"
    if log.hint_version is not None:
        named = f"v{log.hint_version}"
        says = f"`_last_checkpoint` names version {log.hint_version:,}, which has no "
        says += "checkpoint"
    yield Finding(
        rule=NAME,
        severity=Severity.TO_KNOW,
        sentence=f"{says}, so a reader lists the whole log.",
        evidence=(
            Fact("Named checkpoint", named),
            Fact("Newest checkpoint", "none" if newest is None else f"v{newest}"),
        ),
        remedy=HealthRemedy(
            operation="checkpoint",
            label="Checkpoint",
            command=facts.command("checkpoint"),
        ),
    )


RULE: Final = Rule(
    name=NAME,
    title="Dangling hint",
    about="A reader starts at the checkpoint that the hint names.",
    severities=(Severity.TO_KNOW,),
    find=find,
)
