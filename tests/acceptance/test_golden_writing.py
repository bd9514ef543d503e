"""Writing to copies of tables that today's writers wrote.

Every run writes to few that have each feature between them, `-m exhaustive` to all.
"""

import shutil
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from deltaweb.delta.writing.errors import AppendOnlyError, UnsupportedWriteError
from deltaweb.table import DeltaTable
from tests.support import matrix
from tests.support.golden.golden_modern import LARGE, NAMES, ModernTable

REFUSED: Final = {
    "delta-spark__iceberg-compatible": "icebergCompatV2",
    "delta-spark__variants": "variantType",
    "iceberg-compat": "icebergCompatV2",
    "variant-plain": "variantType",
    "variant-shredded": "variant",
}
"""What is refused, and the feature that is named."""
NUMBERED: Final = {
    "delta-spark__identity": ("k", "d"),
    "rules-identity-generated": ("k", "k2"),
}
"""Tables with a column that counts up by five, and one that counts down by one."""
NUMBERS: Final = (pa.types.is_integer, pa.types.is_string, pa.types.is_boolean)


def copied(name: str, folder: Path) -> DeltaTable:
    golden = ModernTable(name).folder
    place = folder / "table"
    shutil.copytree(golden, place)
    for path in [place, *place.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return DeltaTable(str(place))


def rows_of(table: DeltaTable) -> Counter[str]:
    rows: list[dict[str, Any]] = table.snapshot().read().to_pylist()
    return Counter(map(repr, rows))


def features_of(name: str) -> list[str]:
    features: list[str] = ModernTable(name).expected["features"]
    return features


@matrix(
    "name", sorted({*NAMES} - REFUSED.keys() - LARGE - NUMBERED.keys()), by=features_of
)
def test_rows_are_added_changed_and_taken_away(name: str, tmp_path: Path) -> None:
    table = copied(name, tmp_path)
    before = rows_of(table)
    rows = table.snapshot().read(limit=3)
    if rows.num_rows == 0:
        pytest.skip("the table is empty")
    added = Counter(map(repr, rows.to_pylist()))

    table.append(rows)
    assert rows_of(table) == before + added

    column = next((f.name for f in rows.schema if _is_plain(f.type)), None)
    if column is None:
        return
    value = rows[column].drop_null()[0].as_py() if rows[column].null_count < 3 else None
    if value is None:
        return
    literal = repr(value) if isinstance(value, str) else str(value).lower()
    where = f"`{column}` = {literal}"
    if table.definition().metadata.configuration.get("delta.appendOnly") == "true":
        with pytest.raises(AppendOnlyError):
            table.update({column: literal}, where)
        return
    everything = table.snapshot().read()
    mask = pc.coalesce(pc.equal(everything[column], value), pa.scalar(value=False))
    left = Counter(map(repr, everything.filter(pc.invert(mask)).to_pylist()))

    table.update({column: literal}, where)
    assert rows_of(table) == before + added
    result = table.delete(where)
    assert result.num_rows_deleted == pc.sum(mask).as_py()
    assert rows_of(table) == left
    table.optimize()
    assert rows_of(table) == left
    table.restore(version=result.version - 1 if result.version else None)
    assert rows_of(table) == before + added


@pytest.mark.parametrize("name", [name for name in NUMBERED if name in NAMES])
def test_rows_are_numbered_on_from_those_that_are_there(name, tmp_path):
    table = copied(name, tmp_path)
    up, down = NUMBERED[name]
    there = table.snapshot().read(columns=[up, down])

    table.append(pa.table({"id": pa.array([70, 71], pa.int32())}))

    found = table.snapshot().read(columns=[up, down, "id"], predicate="id >= 70")
    highest, lowest = pc.max(there[up]).as_py(), pc.min(there[down]).as_py()
    rows = [(row[up], row[down]) for row in found.sort_by("id").to_pylist()]
    assert rows == [(highest + 5, lowest - 1), (highest + 10, lowest - 2)]


def _is_plain(kind: pa.DataType) -> bool:
    return any(is_kind(kind) for is_kind in NUMBERS)


@pytest.mark.parametrize(
    ("name", "feature"), [case for case in REFUSED.items() if case[0] in NAMES]
)
def test_what_is_not_written_is_refused_by_its_name(name, feature, tmp_path):
    table = copied(name, tmp_path)
    there = sum(len(some) for some in table.store.list_data_files())

    with pytest.raises(UnsupportedWriteError, match=feature):
        table.append(table.snapshot().read(limit=1))

    assert sum(len(some) for some in table.store.list_data_files()) == there
