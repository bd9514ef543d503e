"""Rows as numbers: equal rows share one, whatever array they come in."""

import math
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.delta.changes.row_codes import row_codes, row_hashes, value_codes
from tests.support import cases

TEXT = pa.string()
POINT = pa.struct([("x", pa.int64()), ("y", TEXT)])
VALUES: list[tuple[pa.DataType, list[Any]]] = [
    (pa.int8(), [1, -1, None]),
    (pa.int64(), [2**62, -(2**63), 0, None]),
    (pa.bool_(), [True, False, None]),
    (pa.float64(), [1.5, math.inf, -math.inf, 0.0, None]),
    (pa.date32(), [date(1, 1, 1), date(9999, 12, 31), None]),
    (pa.timestamp("us", "UTC"), [0, -1, 2**40, None]),
    (pa.decimal128(38, 2), [Decimal("1.00"), Decimal(-(10**30)), None]),
    (TEXT, ["", "a", "1234567", "12345678", "123456789", "ä" * 20, None]),
    (pa.binary(), [b"", b"\0", b"\0\0", b"12345678x", None]),
    (POINT, [{"x": 1, "y": None}, {"x": None, "y": None}, None]),
    (pa.list_(TEXT), [[], [None], ["a"], ["a", "b"], ["b", "a"], None]),
    (pa.list_(POINT), [[{"x": 1, "y": "a"}], [None], None]),
    (pa.map_(TEXT, pa.int64()), [[], [("a", 1)], [("a", None)], None]),
    (pa.null(), [None]),
]


@pytest.mark.parametrize(
    ("kind", "distinct"), VALUES, ids=lambda value: str(value)[:40]
)
class TestEveryType:
    def test_equal_values_share_a_code_and_others_do_not(self, kind, distinct):
        values = pa.array(distinct * 2, kind)

        codes = value_codes(values)

        count = len(distinct)
        assert (codes[:count] == codes[count:]).all()
        assert len(set(codes.tolist())) == count
        assert codes[count - 1] == 0

    @pytest.mark.parametrize("seed", [0, 1])
    def test_a_slice_has_the_hashes_of_its_rows(self, kind, distinct, seed):
        rows = pa.table({"c": pa.array(distinct * 3, kind)})
        whole = row_hashes(rows, ["c"], seed)

        start = len(distinct) // 2
        part = row_hashes(rows.slice(start, 2), ["c"], seed)
        alone = row_hashes(pa.table({"c": pa.array(distinct, kind)}), ["c"], seed)

        assert (part == whole[start : start + 2]).all()
        assert (alone == whole[: len(distinct)]).all()

    def test_no_values_have_no_codes(self, kind: pa.DataType, distinct: list[Any]):
        del distinct
        nothing = pa.table({"c": pa.array([], kind)})

        assert len(value_codes(nothing["c"].combine_chunks())) == 0
        assert len(row_hashes(nothing, ["c"], 0)) == 0


class TestWhatIsEqual:
    @cases(
        "kind, pair",
        {
            "zeros of both signs": (pa.float64(), [0.0, -0.0]),
            "any NaN": (pa.float32(), [math.nan, -math.nan]),
            "entries of a map in any order": (
                pa.map_(TEXT, TEXT),
                [[("a", "1"), ("b", "2")], [("b", "2"), ("a", "1")]],
            ),
        },
    )
    def test_as_grouping_in_sql_has_it(self, kind: pa.DataType, pair: list[Any]):
        codes = value_codes(pa.array(pair, kind))
        hashes = row_hashes(pa.table({"c": pa.array(pair, kind)}), ["c"], 0)

        assert codes[0] == codes[1]
        assert hashes[0] == hashes[1]

    @given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=30))
    def test_rows_are_told_apart_by_all_of_their_columns(self, rows):
        columns = np.array(rows, dtype=np.int64).reshape(-1, 2)

        codes = row_codes([columns[:, 0], columns[:, 1]], len(rows))

        same = {(rows[i], int(code)) for i, code in enumerate(codes)}
        assert len(same) == len(set(rows)) == len(set(codes.tolist()))

    def test_many_columns_do_not_overflow(self) -> None:
        column = np.arange(2_000, dtype=np.int64)

        codes = row_codes([column] * 40, 2_000)

        assert sorted(codes.tolist()) == list(range(2_000))
