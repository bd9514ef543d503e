"""Statistics that make up most of the log."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from deltaweb.delta.protocol.table_properties import INDEXED_COLUMNS
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
from deltaweb.words import counted

NAME: Final = "heavy-statistics"
OTHER_BYTES: Final = 150  # of a file action, beside its path and statistics
FEWER_COLUMNS: Final = 8


def find(
    facts: HealthFacts, thresholds: Thresholds, _now: datetime
) -> Iterator[Finding]:
    """Compare the size of the statistics with the rest of the file actions."""
    statistics, num_files = facts.statistics, facts.num_files
    if statistics is None or not num_files:
        return
    size_bytes = statistics.size_bytes
    total = size_bytes + statistics.path_bytes + num_files * OTHER_BYTES
    percent = 100 * size_bytes / total
    if size_bytes < thresholds.statistics_bytes:
        return
    if percent < thresholds.statistics_percent:
        return
    count = len(statistics.columns)
    remedy = HealthRemedy(operation="skipping", label="See skipping")
    if count > FEWER_COLUMNS:
        remedy = HealthRemedy(
            operation="properties",
            label="Index fewer columns",
            parameters={"name": INDEXED_COLUMNS, "value": str(FEWER_COLUMNS)},
            command=facts.command("set", f"{INDEXED_COLUMNS}={FEWER_COLUMNS}"),
        )
    yield Finding(
        rule=NAME,
        severity=Severity.COSTS,
        sentence=f"Statistics are about {min(percent, 99):.0f} % of the log: "
        f"{about_bytes(size_bytes)} for {counted(num_files, 'file')}.",
        evidence=(
            Fact("Statistics", size_bytes, "bytes"),
            Fact("For each file", size_bytes // num_files, "bytes"),
            Fact("Columns with statistics", count, "columns"),
            Fact("Files", num_files, "files"),
        ),
        cost=Cost(size_bytes, "bytes", "to read before the first file is known"),
        remedy=remedy,
    )


RULE: Final = Rule(
    name=NAME,
    title="Statistics fill the log",
    about="Every reader loads the statistics of all files, used or not.",
    advice="Keep statistics of fewer columns; files keep theirs until a rewrite.",
    thresholds=("statistics_bytes", "statistics_percent"),
    severities=(Severity.COSTS,),
    find=find,
)
