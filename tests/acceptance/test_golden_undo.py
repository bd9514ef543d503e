"""Commits of today's writers are undone, in copies of their tables.

Every run undoes those of few tables that have each feature between them,
`-m exhaustive` those of all.
"""

from collections import Counter
from pathlib import Path

import pytest

from deltaweb.table import DeltaTable
from tests.acceptance.test_golden_writing import copied, features_of
from tests.support import matrix
from tests.support.golden.golden_modern import LARGE, NAMES, ModernTable

MOST_VERSIONS = 12


def rows_of(table: DeltaTable, version: int | None = None) -> Counter[str]:
    return Counter(map(repr, table.snapshot(version).read().to_pylist()))


def schema_of(table: DeltaTable, version: int | None = None) -> str | None:
    return table.snapshot(version).metadata.schema_string


@matrix("name", sorted({*NAMES} - LARGE), by=features_of)
def test_what_can_be_undone_is_as_if_it_had_not_been(name: str, tmp_path: Path) -> None:
    table = ModernTable(name).table
    newest = table.latest_version()
    undone = 0
    for version in range(max(0, newest - MOST_VERSIONS), newest + 1):
        plan = table.plan_undo(version)
        if plan.refusal is not None:
            continue
        copy = copied(name, tmp_path / str(version))
        made = copy.undo(version).version
        undone += 1
        if plan.is_newest:
            assert rows_of(copy) == rows_of(copy, version - 1)
            continue
        then, now = copy.snapshot(made), copy.snapshot(newest)
        gone, back = plan.removed["path"].to_pylist(), plan.added["path"].to_pylist()
        paths = Counter(now.files["path"].to_pylist())
        paths.subtract(gone)
        paths.update(back)
        assert Counter(then.files["path"].to_pylist()) == +paths
        versions = (version - 1, version, newest)
        if len({schema_of(copy, one) for one in versions}) == 1:
            before, after = rows_of(copy, version - 1), rows_of(copy, version)
            rows = rows_of(copy, newest)
            rows.subtract(after - before)
            rows.update(before - after)
            assert rows_of(copy) == +rows
    if not undone:
        pytest.skip("no commit of it can be undone")
