"""What health calls urgent stops a reader: here deltalake, by delta-kernel-rs."""

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable as ForeignTable
from deltalake import write_deltalake
from deltalake.exceptions import DeltaError

from deltaweb.health.examine import examine
from deltaweb.health.finding import Severity
from deltaweb.health.thresholds import Thresholds
from deltaweb.table import DeltaTable
from tests.acceptance.health.test_precision import facts_of
from tests.support.tables.broken_tables import NOW


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Make a table of four commits, with checkpoints at versions 1 and 3."""
    place = tmp_path / "table"
    for version in range(4):
        write_deltalake(place, pa.table({"n": [version]}), mode="append")
        if version % 2:
            ForeignTable(place).create_checkpoint()
    return place


def urgency_of(place: Path, rule: str) -> list[Severity]:
    facts = facts_of(DeltaTable(str(place)), place.parent, None)
    found = examine(facts, Thresholds(), NOW)
    return [one.severity for one in found if one.rule == rule]


def lose(place: Path, name: str) -> None:
    (place / "_delta_log" / name).unlink()


def test_a_hint_to_a_lost_checkpoint_is_urgent_and_stops_a_reader(place: Path) -> None:
    lose(place, f"{3:020}.checkpoint.parquet")
    with pytest.raises(DeltaError, match="_last_checkpoint hint"):
        ForeignTable(place)
    assert urgency_of(place, "dangling-hint") == [Severity.ACT_NOW]


def test_a_hint_that_is_older_than_a_checkpoint_stops_no_reader(place: Path) -> None:
    lose(place, f"{1:020}.checkpoint.parquet")
    (place / "_delta_log/_last_checkpoint").write_text('{"version": 1, "size": 4}')
    assert ForeignTable(place).version() == 3
    assert urgency_of(place, "dangling-hint") == []


def test_a_hint_that_is_damaged_is_not_urgent_and_stops_no_reader(place: Path) -> None:
    (place / "_delta_log/_last_checkpoint").write_text('{"version": 3')
    assert ForeignTable(place).version() == 3
    assert urgency_of(place, "dangling-hint") == [Severity.TO_KNOW]


def test_a_missing_commit_is_urgent_and_stops_a_reader(place: Path) -> None:
    write_deltalake(place, pa.table({"n": [4]}), mode="append")
    write_deltalake(place, pa.table({"n": [5]}), mode="append")
    lose(place, f"{4:020}.json")
    with pytest.raises(DeltaError, match="Gap"):
        ForeignTable(place)
    assert urgency_of(place, "log-gap") == [Severity.ACT_NOW]
