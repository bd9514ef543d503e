"""A column that is profiled in process: exactly what plain Python says of its rows.

`tests/spark/test_statistics.py` holds Spark's engine to this one.
"""

import math
import statistics
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.delta.profile.described import TOP_VALUES, ColumnProfile
from deltaweb.delta.profile.in_process import profile_column
from deltaweb.table import DeltaTable

pytestmark = pytest.mark.slow


def profile(location: Path, *column: str) -> ColumnProfile:
    snapshot = DeltaTable(str(location)).snapshot()
    return profile_column(snapshot, column, on_progress=lambda _rows: None)


def written(location: Path, rows: pa.Table) -> None:
    DeltaTable.create(str(location), rows.schema).append(rows)


def test_every_column_of_a_table_is_described(lake: Path) -> None:
    rows = DeltaTable(str(lake / "orders")).snapshot().read()
    for name in rows.column_names:
        values = rows[name].to_pylist()
        known = [value for value in values if value is not None]

        found = profile(lake / "orders", name)

        counted = (found.num_rows, found.num_nulls, found.num_distinct)
        assert counted == (len(values), len(values) - len(known), len(set(known)))
        counts = sorted(Counter(known).values(), reverse=True)[:TOP_VALUES]
        assert [count for _, count in found.top] == counts, name


def test_numbers_have_quantiles_and_a_mean(lake: Path) -> None:
    rows = DeltaTable(str(lake / "orders")).snapshot().read(["customer_id"])
    known = sorted(rows["customer_id"].drop_null().to_pylist())

    found = profile(lake / "orders", "customer_id")

    assert found.mean == pytest.approx(statistics.fmean(known))
    assert found.deviation == pytest.approx(statistics.pstdev(known))
    assert found.quantiles == tuple(
        (share, str(known[max(math.ceil(share * len(known)) - 1, 0)]))
        for share in (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
    )


def test_of_values_as_frequent_the_smaller_comes_first(tmp_path: Path) -> None:
    written(tmp_path / "t", pa.table({"s": ["b", "a", "c", "c"]}))

    assert profile(tmp_path / "t", "s").top == (("c", 2), ("a", 1), ("b", 1))


@pytest.mark.parametrize("values", [[], [None, None]], ids=["no rows", "no values"])
def test_a_column_without_values_has_counts_alone(tmp_path: Path, values: list[None]):
    written(tmp_path / "t", pa.table({"n": pa.array(values, pa.float64())}))

    found = profile(tmp_path / "t", "n")

    assert (found.num_rows, found.num_nulls) == (len(values), len(values))
    assert (found.num_distinct, found.top, found.quantiles) == (0, (), ())
    assert (found.minimum, found.mean, found.num_nan) == (None, None, 0)


def test_what_hears_of_rows_may_stop_it(lake: Path) -> None:
    def stop(_rows: int) -> None:
        raise InterruptedError

    snapshot = DeltaTable(str(lake / "orders")).snapshot()
    with pytest.raises(InterruptedError):
        profile_column(snapshot, ("country",), on_progress=stop)


def test_numbers_are_counted_in_equal_steps(lake: Path) -> None:
    rows = DeltaTable(str(lake / "orders")).snapshot().read(["customer_id"])
    known = rows["customer_id"].drop_null().to_pylist()

    found = profile(lake / "orders", "customer_id")

    assert 10 < len(found.histogram) <= 30
    for low, high, count in found.histogram:
        assert count == sum(int(low) <= value < int(high) for value in known)
    assert sum(count for *_, count in found.histogram) == len(known)


def test_what_is_not_finite_is_in_no_bin(tmp_path: Path) -> None:
    values = [0.5, 1.5, float("nan"), float("inf"), None]
    written(tmp_path / "t", pa.table({"n": values}))

    bins = profile(tmp_path / "t", "n").histogram

    assert sum(count for *_, count in bins) == 2
    assert (bins[0][0], bins[-1][1]) == ("0.5", "1.55")


def test_texts_have_no_histogram(lake: Path) -> None:
    assert profile(lake / "orders", "country").histogram == ()
