"""Small files that compaction would join."""

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

NAME: Final = "small-files"


def find(
    facts: HealthFacts, thresholds: Thresholds, _now: datetime
) -> Iterator[Finding]:
    """Compare the number of files with the number after a compaction."""
    target = facts.target_file_bytes
    limit = target * thresholds.small_file_percent // 100
    small = [one for one in facts.size_bins if one.end_bytes <= max(limit, 1024)]
    num_small = sum(one.num_files for one in small)
    small_bytes = sum(one.size_bytes for one in small)
    if not num_small or not facts.num_files or facts.size_bytes is None:
        return
    least_after = max(1, -(-small_bytes // target))
    saved = num_small - least_after
    if facts.partition_columns:
        saved = min(saved, facts.num_files - files_after(facts))
    percent = 100 * saved / facts.num_files
    if saved < thresholds.small_files or percent < thresholds.small_files_percent:
        return
    yield Finding(
        rule=NAME,
        severity=Severity.COSTS,
        sentence=_sentence(facts, num_small, small_bytes, num_small - saved),
        evidence=(
            Fact("Small files", num_small, "files"),
            Fact("All files", facts.num_files, "files"),
            Fact("Mean size of the small files", small_bytes // num_small, "bytes"),
            Fact("Target size", target, "bytes"),
            Fact("After Optimize, about", num_small - saved, "files"),
        ),
        cost=Cost(saved, "files", "more to open for a full scan"),
        remedy=HealthRemedy(
            operation="optimize",
            label="Optimize",
            command=facts.command("optimize"),
        ),
    )


def files_after(facts: HealthFacts) -> int:
    """Return how many files a compaction leaves: at least one in each partition."""
    target = facts.target_file_bytes
    known = facts.partitions
    others = max(facts.num_partitions - len(known), 0)
    other_bytes = (facts.size_bytes or 0) - sum(one.size_bytes for one in known)
    after = sum(max(1, -(-one.size_bytes // target)) for one in known)
    return after + others + max(other_bytes, 0) // target


def _sentence(facts: HealthFacts, num_small: int, small_bytes: int, after: int) -> str:
    mean, total = about_bytes(small_bytes / num_small), about_bytes(small_bytes)
    if after == 1 and num_small == facts.num_files:
        return f"{num_small:,} files of {mean}; one file of {total} would do."
    after_text = "one file" if after == 1 else f"{after:,} files"
    if num_small == facts.num_files:
        return f"{num_small:,} files of {mean}; {after_text} would do."
    return (
        f"{num_small:,} of {facts.num_files:,} files are small ({mean} on average); "
        f"{after_text} would do."
    )


RULE: Final = Rule(
    name=NAME,
    title="Small files",
    about="A reader opens each file by a request of its own, however small it is.",
    advice="Run Optimize, which joins them in one commit; a schedule can repeat it.",
    thresholds=("small_file_percent", "small_files", "small_files_percent"),
    severities=(Severity.COSTS,),
    find=find,
)
