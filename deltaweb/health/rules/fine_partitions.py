"""Partitions that are so small that their files cannot be large."""

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

NAME: Final = "fine-partitions"


def find(
    facts: HealthFacts, thresholds: Thresholds, _now: datetime
) -> Iterator[Finding]:
    """Compare the mean size of a partition with the least that is useful."""
    count, size_bytes = facts.num_partitions, facts.size_bytes
    if count < thresholds.fine_partitions or not facts.num_files or size_bytes is None:
        return
    mean_bytes = size_bytes // count
    if mean_bytes >= thresholds.fine_partition_bytes:
        return
    after = max(1, -(-size_bytes // facts.target_file_bytes))
    columns = ", ".join(facts.partition_columns)
    yield Finding(
        rule=NAME,
        severity=Severity.COSTS,
        sentence=_sentence(facts, mean_bytes, after),
        evidence=(
            Fact("Partitioned by", columns),
            Fact("Partitions", count, "partitions"),
            Fact("Mean size of a partition", mean_bytes, "bytes"),
            Fact("Files", facts.num_files, "files"),
            Fact("Without partitions, about", after, "files"),
        ),
        cost=Cost(
            max(count - after, 0), "files", "more to open than without partitions"
        ),
        remedy=_remedy(facts),
    )


def _remedy(facts: HealthFacts) -> HealthRemedy:
    """Return Optimize if partitions have several files, which it merges."""
    if (facts.num_files or 0) > facts.num_partitions:
        return HealthRemedy(
            operation="optimize", label="Optimize", command=facts.command("optimize")
        )
    return HealthRemedy(operation="partitions", label="See partitions")


def _sentence(facts: HealthFacts, mean_bytes: int, after: int) -> str:
    files, size_bytes = facts.num_files or 0, facts.size_bytes or 0
    would = (
        f"one file of {about_bytes(size_bytes)} would do"
        if after == 1
        else f"{after:,} files would do"
    )
    if files == facts.num_partitions:
        mean = about_bytes(size_bytes / files)
        return f"{files:,} files of {mean}, each in its own partition; {would}."
    return (
        f"{facts.num_partitions:,} partitions of {about_bytes(mean_bytes)} on average, "
        f"in {files:,} files; without partitions, {would}."
    )


RULE: Final = Rule(
    name=NAME,
    title="Partitions too fine",
    about="No file has rows of two partitions, so small partitions mean small files.",
    advice="Write the rows to a table with fewer partitions, such as days, not hours. "
    "Optimize merges the files of one partition only.",
    thresholds=("fine_partitions", "fine_partition_bytes"),
    severities=(Severity.COSTS,),
    find=find,
)
