"""Versions that have to stay readable, whatever a vacuum or a clean-up takes."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.table import DeltaTable
from tests.support.tables.written_rows import ROWS, SCHEMA

pytestmark = pytest.mark.slow

LATER = datetime.now(UTC) + timedelta(days=60)


@pytest.fixture
def table(tmp_path: Path) -> DeltaTable:
    """Versions 1 to 5, each of which has other rows, and with their changes."""
    made = DeltaTable.create(
        str(tmp_path / "t"),
        SCHEMA,
        properties={"delta.enableChangeDataFeed": "true"},
    )
    for count in (1, 2, 3, 2, 1):
        made.overwrite(ROWS.slice(0, count))
    return made


def rows_of(table: DeltaTable, version: int) -> pa.Table:
    return table.snapshot(version).read()


def test_a_vacuum_spares_a_held_version_and_all_later_ones(table: DeltaTable) -> None:
    before = {version: rows_of(table, version) for version in range(3, 6)}

    plan = table.vacuum(dry_run=False, now=LATER, keep_from=3)

    assert plan.files.num_rows == 2
    assert plan.lost_versions == (1, 2)
    assert (plan.num_held, plan.held_bytes > 0) == (2, True)
    assert {version: rows_of(table, version) for version in before} == before
    assert table.vacuum(now=LATER).files.num_rows == 2


@pytest.mark.parametrize(
    ("keep_from", "num_gone"), [(0, 0), (1, 0), (4, 3), (5, 4), (99, 4), (None, 4)]
)
def test_the_oldest_held_version_counts(table, keep_from, num_gone: int) -> None:
    plan = table.vacuum(now=LATER, keep_from=keep_from)

    assert plan.files.num_rows == num_gone
    assert plan.num_held == 4 - num_gone


def test_changes_after_a_held_version_stay(table: DeltaTable) -> None:
    table.append(ROWS)
    table.delete("n = 1")
    table.overwrite(ROWS.slice(0, 0))
    changed = list(Path(table.root, "_change_data").rglob("*.parquet"))

    table.vacuum(dry_run=False, now=LATER, keep_from=6)

    assert changed
    assert all(one.exists() for one in changed)


def test_a_clean_up_of_the_log_spares_a_held_version(table: DeltaTable) -> None:
    for version in (2, 4):
        table.create_checkpoint(version)

    found = table.clean_up_log(now=LATER, is_dry_run=True)
    held = table.clean_up_log(now=LATER, keep_from=3)

    assert (found.checkpoint_version, held.checkpoint_version) == (4, 2)
    assert rows_of(table, 3).num_rows == 3
    assert table.clean_up_log(now=LATER, is_dry_run=True, keep_from=0).files == []
