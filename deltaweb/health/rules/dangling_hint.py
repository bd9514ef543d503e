"""A `_last_checkpoint` that is of no use to readers."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from deltaweb.health.facts import HealthFacts, LogFacts
from deltaweb.health.finding import Cost, Fact, Finding, HealthRemedy, Severity
from deltaweb.health.rule import Rule
from deltaweb.health.thresholds import Thresholds

NAME: Final = "dangling-hint"


def find(
    facts: HealthFacts, _thresholds: Thresholds, _now: datetime
) -> Iterator[Finding]:
    """Compare the hint with the checkpoints of the log.

    Readers list the log from the version that the hint names. Where no checkpoint is at
    it or after it, delta-kernel-rs, and with it deltalake, refuses the table; others
    list the log from its start. A newer checkpoint is found by all.
    """
    log = facts.log
    if log is None or not (log.is_hint_dangling or log.is_hint_broken):
        return
    newest, hint = log.newest_checkpoint, log.hint_version
    if hint is None:
        severity, named = Severity.TO_KNOW, "no version"
        says = "`_last_checkpoint` is damaged, so a reader lists the whole log."
    elif newest is not None and newest > hint:
        return
    else:
        severity, named = Severity.ACT_NOW, f"v{hint}"
        says = f"`_last_checkpoint` names version {hint:,}, which has no checkpoint: "
        says += "some readers fail, others list the whole log."
    yield Finding(
        rule=NAME,
        severity=severity,
        sentence=says,
        evidence=(
            Fact("Named checkpoint", named),
            Fact("Newest checkpoint", "none" if newest is None else f"v{newest}"),
        ),
        cost=_cost(facts, log),
        remedy=HealthRemedy(
            operation="checkpoint",
            label="Checkpoint",
            command=facts.command("checkpoint"),
        ),
    )


def _cost(facts: HealthFacts, log: LogFacts) -> Cost | None:
    if facts.version is None or log.first_commit is None:
        return None
    count = facts.version - log.first_commit + 1
    return Cost(count, "commits", "listed for each read")


RULE: Final = Rule(
    name=NAME,
    title="Dangling hint",
    about="A reader starts at the checkpoint that the hint names.",
    advice="Write a checkpoint, which also corrects `_last_checkpoint`.",
    severities=(Severity.ACT_NOW, Severity.TO_KNOW),
    find=find,
)
