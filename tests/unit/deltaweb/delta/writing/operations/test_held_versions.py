"""Versions that have to stay readable, whatever a vacuum or a clean-up takes."""

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.table import DeltaTable
from tests.support.tables.table_builder import ROWS, TableBuilder

pytestmark = pytest.mark.slow

LATER = datetime.now(UTC) + timedelta(days=60)


# Versions 1 to 5, each of which has other rows, and with their changes.
REWRITES = [
    partial(DeltaTable.overwrite, rows=ROWS.slice(0, count))
    for count in (1, 2, 3, 2, 1)
]
TABLE = TableBuilder().property("delta.enableChangeDataFeed").then(*REWRITES)


def rows_of(table: DeltaTable, version: int) -> pa.Table:
    return table.snapshot(version).read()


def test_a_vacuum_spares_a_held_version_and_all_later_ones(
    local_table: DeltaTable,
) -> None:
    before = {version: rows_of(local_table, version) for version in range(3, 6)}

    plan = local_table.vacuum(dry_run=False, now=LATER, keep_from=3)

    assert plan.files.num_rows == 2
    assert plan.lost_versions == (1, 2)
    assert (plan.num_held, plan.held_bytes > 0) == (2, True)
    assert {version: rows_of(local_table, version) for version in before} == before
    assert local_table.vacuum(now=LATER).files.num_rows == 2


@pytest.mark.parametrize(
    ("keep_from", "num_gone"), [(0, 0), (1, 0), (4, 3), (5, 4), (99, 4), (None, 4)]
)
def test_the_oldest_held_version_counts(local_table, keep_from, num_gone: int) -> None:
    plan = local_table.vacuum(now=LATER, keep_from=keep_from)

    assert plan.files.num_rows == num_gone
    assert plan.num_held == 4 - num_gone


def test_changes_after_a_held_version_stay(local_table: DeltaTable) -> None:
    local_table.append(ROWS)
    local_table.delete("n = 1")
    local_table.overwrite(ROWS.slice(0, 0))
    changed = list(Path(local_table.root, "_change_data").rglob("*.parquet"))

    local_table.vacuum(dry_run=False, now=LATER, keep_from=6)

    assert changed
    assert all(one.exists() for one in changed)


def test_a_clean_up_of_the_log_spares_a_held_version(local_table: DeltaTable) -> None:
    for version in (2, 4):
        local_table.create_checkpoint(version)

    found = local_table.clean_up_log(now=LATER, is_dry_run=True)
    held = local_table.clean_up_log(now=LATER, keep_from=3)

    assert (found.checkpoint_version, held.checkpoint_version) == (4, 2)
    assert rows_of(local_table, 3).num_rows == 3
    assert local_table.clean_up_log(now=LATER, is_dry_run=True, keep_from=0).files == []
