"""Columns that conditions use, and files without statistics of them."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from deltaweb.health.facts import HealthFacts, StatisticsFacts
from deltaweb.health.finding import Cost, Fact, Finding, HealthRemedy, Severity
from deltaweb.health.rule import Rule
from deltaweb.health.thresholds import Thresholds

NAME: Final = "missing-statistics"
SKIPPING: Final = HealthRemedy(operation="skipping", label="See skipping")


def find(
    facts: HealthFacts, thresholds: Thresholds, _now: datetime
) -> Iterator[Finding]:
    """Compare the files that have statistics with all files."""
    statistics, num_files = facts.statistics, facts.num_files
    if statistics is None or not num_files:
        return
    least = max(
        thresholds.files_without_statistics,
        num_files * thresholds.without_statistics_percent / 100,
    )
    if statistics.num_without >= least:
        yield _without_any(facts, statistics.num_without, num_files)
        return
    for name, used_by in _used(facts, statistics).items():
        lacking = _lacking(statistics, name, num_files)
        if lacking is not None and lacking >= least:
            yield _without(facts, name, used_by, lacking, num_files)


def _used(facts: HealthFacts, statistics: StatisticsFacts) -> dict[str, str]:
    """Return the columns that conditions use, as statistics spell them, and by whom."""
    spelled = {name.lower(): name for name in statistics.columns}
    used = {name.lower(): "the table is clustered by it" for name in facts.clustering}
    used |= {one.name.lower(): one.used_by for one in facts.used_columns}
    partitions = {name.lower() for name in facts.partition_columns}
    return {
        spelled.get(name, name): used_by
        for name, used_by in used.items()
        if name not in partitions
    }


def _lacking(statistics: StatisticsFacts, name: str, num_files: int) -> int | None:
    """Count the files without statistics of a column; None if that is unknown."""
    if name in statistics.columns:
        return num_files - statistics.columns[name]
    return num_files if statistics.is_whole else None


def _without_any(facts: HealthFacts, lacking: int, num_files: int) -> Finding:
    of = "None of the" if lacking == num_files else f"{lacking:,} of"
    have = "files has" if lacking == num_files else "files have no"
    names = ", ".join(f"`{name}`" for name in facts.partition_columns)
    every = f"every filter by anything but {names}" if names else "every filter"
    return Finding(
        rule=NAME,
        severity=Severity.COSTS,
        sentence=f"{of} {num_files:,} {have} statistics, so {every} reads all of "
        "these files.",
        evidence=(
            Fact("Files without statistics", lacking, "files"),
            Fact("All files", num_files, "files"),
        ),
        cost=Cost(lacking, "files", "opened for each filter"),
        remedy=SKIPPING,
    )


def _without(
    facts: HealthFacts, name: str, used_by: str, lacking: int, num_files: int
) -> Finding:
    is_kept = facts.statistics is not None and name in facts.statistics.columns
    if is_kept:
        remedy = HealthRemedy(
            operation="optimize",
            label="Optimize",
            parameters={"cluster_by": name},
            command=facts.command("optimize", "--cluster-by", name),
        )
    else:
        remedy = SKIPPING
    any_of = "any of " if lacking == num_files else f"{lacking:,} of "
    return Finding(
        rule=NAME,
        subject=name,
        severity=Severity.COSTS,
        sentence=f"`{name}` has no statistics in {any_of}{num_files:,} files; "
        f"{used_by}.",
        evidence=(
            Fact("Column", name),
            Fact("Used", used_by),
            Fact("Files without its statistics", lacking, "files"),
            Fact("All files", num_files, "files"),
            Fact("Writers keep statistics of it", "yes" if is_kept else "no"),
        ),
        cost=Cost(lacking, "files", "opened for each filter on it"),
        remedy=remedy,
    )


RULE: Final = Rule(
    name=NAME,
    title="Statistics missing",
    about="A reader skips a file only if statistics prove that no row matches.",
    advice="Let writers keep statistics of the filtered columns; rewrite the files.",
    thresholds=("files_without_statistics", "without_statistics_percent"),
    severities=(Severity.COSTS,),
    find=find,
)
