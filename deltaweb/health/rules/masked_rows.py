"""Deletion vectors that mask many rows."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from deltaweb.health.facts import HealthFacts
from deltaweb.health.finding import Cost, Fact, Finding, HealthRemedy, Severity
from deltaweb.health.rule import Rule
from deltaweb.health.thresholds import Thresholds

NAME: Final = "masked-rows"


def find(
    facts: HealthFacts, thresholds: Thresholds, _now: datetime
) -> Iterator[Finding]:
    """Compare the deleted rows with all rows of the files that have vectors."""
    vectors = facts.vectors
    if vectors is None or not vectors.rows:
        return
    percent = 100 * vectors.deleted_rows / vectors.rows
    if vectors.deleted_rows < thresholds.masked_rows:
        return
    if percent < thresholds.masked_percent:
        return
    files = f"{vectors.num_files:,} files with deletion vectors"
    if vectors.num_files == 1:
        files = "one file with a deletion vector"
    yield Finding(
        rule=NAME,
        severity=Severity.COSTS,
        sentence=f"{vectors.deleted_rows:,} of {vectors.rows:,} rows in {files} "
        "are deleted, and still read.",
        evidence=(
            Fact("Files with deletion vectors", vectors.num_files, "files"),
            Fact("Deleted rows", vectors.deleted_rows, "rows"),
            Fact("All rows of these files", vectors.rows, "rows"),
        ),
        cost=Cost(
            round(vectors.size_bytes * percent / 100),
            "bytes",
            "of deleted rows read in each full scan",
        ),
        remedy=HealthRemedy(
            operation="optimize",
            label="Optimize",
            command=facts.command("optimize"),
        ),
    )


RULE: Final = Rule(
    name=NAME,
    title="Deletion vectors mask many rows",
    about="A reader reads the deleted rows of a file before it leaves them out.",
    advice="Run Optimize, which rewrites these files without the deleted rows.",
    thresholds=("masked_rows", "masked_percent"),
    severities=(Severity.COSTS,),
    find=find,
)
