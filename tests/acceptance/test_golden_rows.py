"""Every recorded table, at every recorded version: its rows and statistics.

Every run reads the newest version of each table, and of some tables each version;
`pytest -m exhaustive` reads the others. What the log says of each version is asked of
all in every run (`test_golden_listing.py`).
"""

import math
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import cycle, islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from deltaweb.delta.errors import DataFileMissingError, DeltaError
from deltaweb.delta.scan.operators import OF_ADDRESSES
from deltaweb.delta.scan.predicate import Comparison, IsNull
from deltaweb.delta.snapshot import Snapshot
from tests.support import matrix
from tests.support.golden.canonical import content_sha256, lines
from tests.support.golden.golden_refusals import (
    is_of_unread_features,
    snapshot_or_refusal,
)
from tests.support.golden.golden_tables import (
    NAMES,
    SOME_NAMES,
    expected_of,
    golden_table,
    traits_of,
)


def _has_rows(version: Mapping[str, Any]) -> bool:
    return "rows" in version or "content_sha256" in version


def _row_cases() -> Iterator[Any]:
    for name in NAMES:
        recorded = expected_of(name).get("versions") or {}
        versions = [text for text, said in recorded.items() if _has_rows(said)]
        newest = max(versions, key=int, default=None)
        for version in versions:
            often = version == newest or name in SOME_NAMES
            marks = [] if often else [pytest.mark.exhaustive]
            yield pytest.param(name, version, id=f"{name}@{version}", marks=marks)


# The recorded statistics of these contradict the recorded data: a reader that skips
# by them is right to lose rows.
WRONG_STATISTICS = {"deltars__issue_1374", "kernelrs__parsed-stats"}

ROW_CASES = list(_row_cases())
STATISTICS_CASES = [name for name in NAMES if expected_of(name).get("stats_latest")]
MISSING_DATA_CASES = [
    name
    for name in NAMES
    if expected_of(name).get("content_error") == "data-file-missing"
]


@pytest.mark.parametrize(("name", "version"), ROW_CASES)
def test_rows_are_those_that_were_recorded(name: str, version: str) -> None:
    table = expected_of(name)
    expected = table["versions"][version]
    snapshot = snapshot_or_refusal(golden_table(name), int(version))
    if isinstance(snapshot, DeltaError):
        assert expected.get("error") or is_of_unread_features(snapshot)
        return
    if _is_without_data(table, expected):
        with pytest.raises(DataFileMissingError):
            snapshot.read()
        return

    rows = snapshot.read()

    assert rows.num_rows == expected.get("rows", rows.num_rows)
    if "content_sha256" in expected:
        schema_string = table["schemas"][expected["schema"]]
        assert content_sha256(lines(schema_string, rows)) in {
            expected["content_sha256"],
            *expected.get("content_sha256_also_accepted", []),
        }
    rows.validate(full=True)


@pytest.mark.parametrize("name", MISSING_DATA_CASES)
def test_data_that_is_gone_is_named_and_its_listing_works(name: str) -> None:
    snapshot = snapshot_or_refusal(golden_table(name))
    if isinstance(snapshot, DeltaError):
        assert is_of_unread_features(snapshot)
        return

    assert snapshot.num_files > 0
    with pytest.raises(DataFileMissingError) as caught:
        snapshot.read()
    assert caught.value.path in snapshot.files["path"].to_pylist()


@pytest.mark.parametrize("name", STATISTICS_CASES)
def test_statistics_agree_where_both_have_them(name: str) -> None:
    expected = expected_of(name)
    snapshot = snapshot_or_refusal(golden_table(name))
    if isinstance(snapshot, DeltaError):
        assert expected["expect"] != "ok" or is_of_unread_features(snapshot)
        return

    actual = _by_path(snapshot)

    compared = 0
    for file in expected["stats_latest"]["files"]:
        ours = actual[file["path"]]
        if file.get("num_records") is not None:
            assert ours["num_records"] == file["num_records"]
            compared += 1
        for kind in ("min", "max", "null_count"):
            compared += _compare(ours[kind] or {}, file.get(kind) or {}, kind)
    has_values = any(len(file) > 1 for file in expected["stats_latest"]["files"])
    assert compared > 0 or not has_values


@matrix("name", [name for name in NAMES if name not in WRONG_STATISTICS], by=traits_of)
def test_conditions_leave_the_rows_that_a_plain_filter_leaves(name: str) -> None:
    try:
        snapshot = golden_table(name).snapshot()
        rows = snapshot.read()
    except DeltaError:
        return

    # Two ways of a column, others of the next; `tests/unit` asks all of one another.
    ways = cycle(OF_ADDRESSES.values())
    for column in _comparable(rows.schema):
        values = pc.drop_null(rows[column])
        for value in [values[-1]] if len(values) else []:
            for compared in islice(ways, 2):
                predicate = Comparison((column,), compared.sign, value)
                expected = rows.filter(compared.holds(pc.field(column), value))

                kept = snapshot.read(predicate=predicate)

                assert kept.equals(expected) or _sorted_rows(kept) == _sorted_rows(
                    expected
                )
        kept = snapshot.read(predicate=IsNull((column,)))
        assert kept.num_rows == rows[column].null_count


def _comparable(schema: pa.Schema) -> list[str]:
    return [
        field.name
        for field in schema
        if not pa.types.is_nested(field.type) and not pa.types.is_null(field.type)
    ][:8]


def _sorted_rows(rows: pa.Table) -> list[str]:
    return sorted(repr(row) for row in rows.to_pylist())


def _is_without_data(table: Mapping[str, Any], version: Mapping[str, Any]) -> bool:
    errors = {table.get("content_error"), version.get("content_error")}
    return "data-file-missing" in errors and "content_sha256" not in version


def _by_path(snapshot: Snapshot) -> dict[str, dict[str, Any]]:
    statistics = snapshot.statistics()
    assert statistics.num_rows == snapshot.num_files
    paths = snapshot.files["path"].to_pylist()
    return dict(zip(paths, statistics.to_pylist(), strict=True))


def _compare(ours: Mapping[str, Any], theirs: Mapping[str, Any], kind: str) -> int:
    """Compare the columns that both know; return how many."""
    compared = 0
    for column, value in theirs.items():
        mine = ours.get(column)
        if isinstance(value, dict):
            compared += _compare(mine or {}, value, kind)
        elif mine is not None and value is not None:
            assert _same(mine, value), (kind, column, mine, value)
            compared += 1
    return compared


def _same(mine: object, theirs: object) -> bool:
    if isinstance(mine, datetime):
        zone = mine.tzinfo is not None
        other = datetime.fromisoformat(str(theirs))
        if zone and other.tzinfo is None:
            other = other.replace(tzinfo=UTC)
        # A bound that was written in milliseconds may be widened to hold the rest.
        return abs(mine - other) < timedelta(milliseconds=1)
    if isinstance(mine, date):
        return mine == date.fromisoformat(str(theirs))
    if isinstance(mine, Decimal):
        return math.isclose(mine, Decimal(str(theirs)), rel_tol=1e-12)
    if isinstance(mine, float):
        number = float(str(theirs))
        both = math.isnan(mine) and math.isnan(number)
        return both or math.isclose(mine, number, rel_tol=1e-6)
    return mine == theirs
