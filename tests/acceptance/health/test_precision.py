"""Health finds in recorded and in broken tables what a person found, and nothing else.

The author of the rules wrote `expected.json` from the facts of each table, before a
threshold was changed. On 2026-11-29 a second person, who had written neither, reviewed
it. A script without any rule read the logs of all recorded tables and of the samples,
and these facts were compared with the expectations; broken tables were judged by the
steps that make them. The review corrected two severities and nine sentences of broken
tables, and no finding of a recorded table. It also looked at recorded tables at a later
time, and removed a false finding there.
"""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from deltaweb.errors import DeltawebError
from deltaweb.health.examine import examine
from deltaweb.health.facts import INDEX_FACTS, HealthFacts, milliseconds, moment_of
from deltaweb.health.finding import Finding
from deltaweb.health.thresholds import Thresholds
from deltaweb.index.build.full import index_table
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.golden.recorded import table_folders
from tests.support.tables.broken_tables import BROKEN, NOW, BrokenTable

EXPECTED: Final = json.loads(
    (Path(__file__).parent / "expected.json").read_text(encoding="utf-8")
)
RECORDED: Final = table_folders("tables") | table_folders("modern", "tables")


def facts_of(table: DeltaTable, folder: Path, now: datetime | None) -> HealthFacts:
    result = index_table(
        table, folder / "index", now_ms=milliseconds(now) if now else None
    )
    values: dict[str, Any] = {**result.to_json(), "fault_code": result.error_code}
    values["committed_at"] = moment_of(result.committed_at_ms or 0)
    return HealthFacts.of_index(
        table="t", **{name: values[name] for name in INDEX_FACTS}
    )


def named(findings: tuple[Finding, ...]) -> list[str]:
    return [f"{one.severity.value} {one.key}" for one in findings]


def said(findings: tuple[Finding, ...]) -> list[str]:
    return [f"{one.severity.value} {one.key}: {one.sentence}" for one in findings]


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_table_has_the_findings_of_a_person(
    name: str, tmp_path: Path
) -> None:
    try:
        facts = facts_of(DeltaTable(str(RECORDED[name] / "table")), tmp_path, None)
    except DeltawebError:
        assert name not in EXPECTED["recorded"]  # it is no table
        return
    assert facts.committed_at is not None
    # The times of most of them are those of their extraction. They have too few commits
    # and bytes for what time alone brings.
    for age in (timedelta(minutes=1), timedelta(days=400)):
        found = examine(facts, Thresholds(), facts.committed_at + age)
        assert named(found) == EXPECTED["recorded"][name]


@cases("name, broken", {name: (name, broken) for name, broken in BROKEN.items()})
def test_a_broken_table_has_the_findings_of_a_person(
    name: str, broken: BrokenTable, tmp_path: Path
) -> None:
    facts = replace(facts_of(broken.build(), tmp_path, NOW), **broken.known)
    found = examine(facts, Thresholds().changed(broken.limits), NOW)
    assert said(found) == EXPECTED["broken"][name]


def test_the_samples_have_the_findings_of_a_person(lake: Path, tmp_path: Path) -> None:
    found = {}
    for place in sorted(path for path in lake.iterdir() if path.is_dir()):
        facts = facts_of(DeltaTable(str(place)), tmp_path / place.name, None)
        assert facts.committed_at is not None
        now = facts.committed_at + timedelta(minutes=1)
        found[place.name] = said(examine(facts, Thresholds(), now))
    assert found == EXPECTED["samples"]


def test_every_expectation_is_of_a_table() -> None:
    assert EXPECTED["broken"].keys() == BROKEN.keys()
    assert len(EXPECTED["recorded"]) >= 100
