"""One partition that has most of the bytes."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from deltaweb.health.facts import HealthFacts
from deltaweb.health.finding import (
    Cost,
    Fact,
    Finding,
    HealthRemedy,
    Severity,
    about_bytes,
)
from deltaweb.health.rule import Rule
from deltaweb.health.thresholds import Thresholds

NAME: Final = "skewed-partitions"
LEAST_PARTITIONS: Final = 3


def find(
    facts: HealthFacts, thresholds: Thresholds, _now: datetime
) -> Iterator[Finding]:
    """Compare the largest partition with the mean of the others."""
    count, size_bytes = facts.num_partitions, facts.size_bytes
    if count < LEAST_PARTITIONS or not facts.partitions or not size_bytes:
        return
    largest = facts.partitions[0]
    percent = 100 * largest.size_bytes / size_bytes
    is_large = largest.size_bytes >= thresholds.skewed_bytes
    if not is_large or percent < thresholds.skewed_percent:
        return
    others = max((size_bytes - largest.size_bytes) // (count - 1), 1)
    times = largest.size_bytes / others
    yield Finding(
        rule=NAME,
        severity=Severity.TO_KNOW,
        sentence=(
            f"{percent:.0f} % of the bytes are in one of {count:,} partitions, "
            f"{largest.text}: {about_bytes(largest.size_bytes)} of "
            f"{about_bytes(size_bytes)}."
        ),
        evidence=(
            Fact("Largest partition", largest.text),
            Fact("Its size", largest.size_bytes, "bytes"),
            Fact("Its files", largest.num_files, "files"),
            Fact("Mean size of the others", others, "bytes"),
            Fact("Partitions", count, "partitions"),
        ),
        cost=Cost(round(times), "times", "the mean of the others"),
        remedy=HealthRemedy(operation="partitions", label="See partitions"),
    )


RULE: Final = Rule(
    name=NAME,
    title="Skewed partitions",
    about="A filter by partition saves little if most rows are in one partition.",
    advice="Partition by another column, or cluster by the columns of filters.",
    thresholds=("skewed_percent", "skewed_bytes"),
    severities=(Severity.TO_KNOW,),
    find=find,
)
