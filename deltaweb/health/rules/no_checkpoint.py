"""Many commits since the newest checkpoint."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from deltaweb.health.facts import HealthFacts
from deltaweb.health.finding import Cost, Fact, Finding, HealthRemedy, Severity
from deltaweb.health.rule import Rule
from deltaweb.health.thresholds import Thresholds

NAME: Final = "no-checkpoint"


def find(
    facts: HealthFacts, thresholds: Thresholds, _now: datetime
) -> Iterator[Finding]:
    """Count the commits that a reader replays."""
    log, version = facts.log, facts.version
    if log is None or version is None or log.first_commit is None:
        return
    newest = log.newest_checkpoint
    after = log.first_commit - 1 if newest is None else newest
    count = version - after
    limit = max(thresholds.checkpoint_commits, 2 * (log.checkpoint_interval or 0))
    if count < limit:
        return
    is_urgent = count >= max(limit, thresholds.checkpoint_commits_act_now)
    history = facts.history
    yield Finding(
        rule=NAME,
        severity=Severity.ACT_NOW if is_urgent else Severity.COSTS,
        sentence=(
            f"No checkpoint: a reader replays all {count:,} commits."
            if newest is None
            else f"No checkpoint for {count:,} commits: the newest is at "
            f"version {newest:,}, the table at {version:,}."
        ),
        evidence=(
            Fact("Commits since the newest checkpoint", count, "commits"),
            Fact("Newest checkpoint", "none" if newest is None else f"v{newest}"),
            Fact("Table", f"v{version}"),
        ),
        cost=Cost(count, "commits", "to read before the first file is known"),
        remedy=HealthRemedy(
            operation="checkpoint",
            label="Checkpoint",
            command=facts.command("checkpoint"),
        ),
        since=None if history is None else history.time_of(after + limit),
    )


RULE: Final = Rule(
    name=NAME,
    title="No checkpoint for long",
    about="A reader replays each commit since the newest checkpoint.",
    advice="Write a checkpoint; repeat it by a schedule if no writer does it.",
    thresholds=("checkpoint_commits", "checkpoint_commits_act_now"),
    severities=(Severity.ACT_NOW, Severity.COSTS),
    find=find,
)
