"""An identity column that has used most of its numbers."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from deltaweb.health.facts import HealthFacts
from deltaweb.health.finding import Cost, Fact, Finding, HealthRemedy, Severity
from deltaweb.health.rule import Rule
from deltaweb.health.thresholds import Thresholds
from deltaweb.words import compact_text

NAME: Final = "identity-end"
LEAST_LONG: Final = -(1 << 63)
LARGE: Final = 1_000_000_000
MOST_LONG: Final = (1 << 63) - 1


def find(
    facts: HealthFacts, thresholds: Thresholds, _now: datetime
) -> Iterator[Finding]:
    """Count the numbers of each identity column up to the end of bigint."""
    for column in facts.identities:
        end = MOST_LONG if column.step > 0 else LEAST_LONG
        left = max((end - column.mark) // column.step, 0)
        given = max((column.mark - column.start) // column.step, 0)
        percent = 100 * given / max(given + left, 1)
        # One percent of bigint lasts any writer for centuries.
        if percent < thresholds.identity_percent or left >= thresholds.identity_left:
            continue
        is_urgent = left < thresholds.identity_left_act_now
        yield Finding(
            rule=NAME,
            subject=column.name,
            severity=Severity.ACT_NOW if is_urgent else Severity.TO_KNOW,
            sentence=f"The identity column `{column.name}` has used "
            f"{_percent_text(percent)} of its numbers; {_count_text(left)} are left.",
            evidence=(
                Fact("Column", column.name),
                Fact("Last number", str(column.mark)),
                Fact("Step", str(column.step)),
            ),
            cost=Cost(left, "rows", "can still be written"),
            remedy=HealthRemedy(operation="schema", label="See schema"),
        )


def _count_text(count: int) -> str:
    return f"{count:,}" if count < LARGE else compact_text(count)


def _percent_text(percent: float) -> str:
    return "over 99 %" if percent > 99 else f"{percent:.0f} %"  # noqa: PLR2004


RULE: Final = Rule(
    name=NAME,
    title="Identity near its end",
    about="A writer fails when the numbers of an identity column are used up.",
    advice="Plan another key column before the numbers are used up.",
    thresholds=("identity_percent", "identity_left", "identity_left_act_now"),
    severities=(Severity.ACT_NOW, Severity.TO_KNOW),
    find=find,
)
