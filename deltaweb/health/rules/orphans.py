"""Files in the folder that no version needs."""

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

NAME: Final = "orphans"


def find(
    facts: HealthFacts, thresholds: Thresholds, _now: datetime
) -> Iterator[Finding]:
    """Read the last listing of the folder."""
    listing = facts.listing
    if listing is None or not listing.orphan_files:
        return
    files, size_bytes = listing.orphan_files, listing.orphan_bytes
    if size_bytes < thresholds.orphan_bytes and files < thresholds.orphan_files:
        return
    are = "file is" if files == 1 else "files are"
    yield Finding(
        rule=NAME,
        severity=Severity.COSTS,
        sentence=f"{files:,} {are} in no version: {about_bytes(size_bytes)}.",
        evidence=(
            Fact("Orphans", files, "files"),
            Fact("Their size", size_bytes, "bytes"),
            Fact("Folder listed at", f"{listing.listed_at:%Y-%m-%d %H:%M} UTC"),
        ),
        cost=Cost(size_bytes, "bytes", "could be freed"),
        remedy=HealthRemedy(
            operation="vacuum", label="Vacuum", command=facts.command("vacuum")
        ),
        since=listing.listed_at,
    )


RULE: Final = Rule(
    name=NAME,
    title="Orphans",
    about="A failed write leaves files that no reader opens and storage keeps.",
    advice="Run a vacuum, which deletes files that are in no version.",
    thresholds=("orphan_files", "orphan_bytes"),
    severities=(Severity.COSTS,),
    find=find,
)
