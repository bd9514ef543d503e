"""Which row groups a condition reads: those that no bound and no count rules out."""

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apps.explorer.parquet_file.conditions import Condition, try_condition
from deltaweb.parquet.inspection.chunks import ChunkSums, chunk_batches
from deltaweb.parquet.inspection.facts import group_batches
from deltaweb.parquet.inspection.nodes import node_batches, node_types
from deltaweb.parquet.loading import load_footer
from tests.support import cases


def _try(values: pa.Array, operator: str, value: str = "", upper: str = ""):
    """Try a condition on a column of row groups of two rows each."""
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"before": values, "c": values}), sink, row_group_size=2)
    footer = load_footer(pa.BufferReader(sink.getvalue()))
    sums = ChunkSums()
    chunks = pa.Table.from_batches([batch for _, batch in chunk_batches(footer, sums)])
    groups = pa.Table.from_batches(group_batches(footer, sums))
    nodes = pa.Table.from_batches(node_batches(footer, node_types(footer.root), sums))
    column = nodes.to_pylist()[1]
    condition = Condition(operator=operator, value=value, upper=upper)
    return try_condition(condition, column, chunks, groups)


def _read(*found: Any, **_: Any) -> list[int]:  # noqa: ANN401 (as `_try` takes)
    tried = _try(*found)
    assert tried.fault == ""
    read = [number for number, one in tried.verdicts.items() if one.is_read]
    assert tried.num_read == len(read)
    return read


NUMBERS = pa.array([1, 3, 5, 7, None, None, 9, None])


@pytest.mark.parametrize(
    ("operator", "value", "upper", "expected"),
    [
        ("eq", "5", "", [1]),
        ("eq", "4", "", []),
        ("eq", "2", "", [0]),
        ("ne", "9", "", [0, 1]),
        ("ne", "5", "", [0, 1, 3]),
        ("lt", "5", "", [0]),
        ("le", "5", "", [0, 1]),
        ("gt", "7", "", [3]),
        ("ge", "7", "", [1, 3]),
        ("between", "3", "5", [0, 1]),
        ("between", "7.5", "100", [3]),
        ("null", "", "", [2, 3]),
        ("notnull", "", "", [0, 1, 3]),
    ],
)
def test_reads_what_no_bound_rules_out(operator, value, upper, expected):
    assert _read(NUMBERS, operator, value, upper) == expected


@cases(
    "values, value, expected",
    {
        "text": (pa.array(["a", "b", "é", "z"]), "b", [0]),
        "text by its bytes": (pa.array(["a", "b", "é", "é"]), "é", [1]),
        "decimals": (
            pa.array([Decimal("-1.50"), Decimal("2.25"), Decimal(3), Decimal(9)]),
            "2.3",
            [],
        ),
        "days": (
            pa.array([date(2026, 1, 1), date(2026, 2, 1), None, date(2027, 1, 1)]),
            "2026-01-15",
            [0],
        ),
        "instants": (
            pa.array(
                [datetime(2026, 1, day, 12, tzinfo=UTC) for day in (1, 2, 3, 4)],
                pa.timestamp("ns", "UTC"),
            ),
            "2026-01-03 12:00",
            [1],
        ),
        "truths": (pa.array([True, True, False, False]), "false", [1]),
        "unsigned numbers": (
            pa.array([2**64 - 1, 2**63, 1, 2], pa.uint64()),
            str(2**63 + 1),
            [0],
        ),
        "infinity": (pa.array([1.5, math.inf, -math.inf, 0.0]), "1e300", [0]),
        "UUIDs": (
            pa.array([UUID(int=n).bytes for n in (1, 2, 3, 4)], pa.uuid()),
            str(UUID(int=3)),
            [1],
        ),
        "the cut bound of long text rules nothing out": (
            pa.array(["a" * 300, "b" * 300, "c", "c"]),
            "b" * 250,
            [0],
        ),
    },
)
def test_compares_by_the_type_of_the_column(values, value, expected):
    assert _read(values, "eq", value) == expected


def test_bounds_of_floats_say_nothing_of_nan() -> None:
    """A row with NaN differs from every number."""
    assert _read(pa.array([5.0, math.nan, 5.0, 5.0]), "ne", "5") == [0, 1]


def test_says_why_and_how_many_bytes() -> None:
    tried = _try(NUMBERS, "gt", "7")

    assert [one.because for one in tried.verdicts.values()] == [
        "its greatest value is 3",
        "its greatest value is 7",
        "every value is null",
        "its range may hold such a value",
    ]
    assert 0 < tried.read_bytes < tried.total_bytes
    assert tried.num_skipped == 3


@pytest.mark.parametrize(
    ("values", "value", "words"),
    [
        (NUMBERS, "x", "of numbers"),
        (NUMBERS, "NaN", "of numbers"),
        (pa.array([date(2026, 1, 1)]), "yesterday", "of times"),
        (pa.array([b"a"]), "a", "without a range"),
        (pa.array([True]), "perhaps", "BOOLEAN"),
    ],
)
def test_a_value_that_the_column_cannot_have_is_said(values, value, words):
    tried = _try(values, "eq", value)

    assert words in tried.fault
    assert tried.verdicts == {}
