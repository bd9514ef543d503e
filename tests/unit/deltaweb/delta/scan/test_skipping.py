"""Bounds, counts of nulls and partitions select files."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from deltaweb.delta.scan.predicate import Comparison, In, IsNull, Like, Not, Predicate
from deltaweb.delta.scan.pruning import files_for_expression, files_for_predicate
from deltaweb.delta.values.statistics.columns import parse_statistics
from tests.support import cases
from tests.support.files.random_files import ROWS, SCHEMA, scalar

INTEGER = ("i",)


def _select(predicate: Predicate, *stats: dict[str, Any]) -> list[bool]:
    texts = pa.chunked_array([pa.array([json.dumps(item) for item in stats])])
    selected = files_for_predicate(
        predicate,
        pa.array([{}] * len(stats), pa.struct([])),
        lambda columns: parse_statistics(texts, SCHEMA, columns),
    )
    return [bool(item) for item in selected]


class TestBounds:
    @cases(
        "operator, value, expected",
        {
            "equal": ("=", 4, [False, True, True]),
            "below the smallest": ("<", 1, [False, False, True]),
            "the smallest itself": ("<=", 1, [True, False, True]),
            "above the largest": (">", 5, [False, False, True]),
            "the largest itself": (">=", 5, [False, True, True]),
            "unequal": ("!=", 2, [True, True, True]),
        },
    )
    def test_a_comparison_selects_by_them(self, operator, value, expected):
        predicate = Comparison(INTEGER, operator, pa.scalar(value, pa.int64()))

        selected = _select(
            predicate,
            {"minValues": {"i": 1}, "maxValues": {"i": 3}},
            {"minValues": {"i": 4}, "maxValues": {"i": 5}},
            {},
        )

        assert selected == expected

    def test_one_value_alone_is_never_unequal_to_itself(self) -> None:
        predicate = Comparison(INTEGER, "!=", pa.scalar(4, pa.int64()))

        assert _select(predicate, {"minValues": {"i": 4}, "maxValues": {"i": 4}}) == [
            False
        ]

    def test_a_file_of_nulls_matches_no_comparison_and_no_opposite(self) -> None:
        predicate = Comparison(INTEGER, "=", pa.scalar(4, pa.int64()))
        stats = {"numRecords": 2, "nullCount": {"i": 2}}

        assert _select(predicate, stats) == [False]
        assert _select(Not(predicate), stats) == [False]
        assert _select(IsNull(INTEGER), stats) == [True]
        assert _select(Not(IsNull(INTEGER)), stats) == [False]

    def test_a_long_list_is_judged_by_its_ends(self) -> None:
        values = tuple(pa.scalar(value, pa.int64()) for value in range(100, 300))

        selected = _select(
            In(INTEGER, values),
            {"minValues": {"i": 1}, "maxValues": {"i": 99}},
            {"minValues": {"i": 1}, "maxValues": {"i": 100}},
        )

        assert selected == [False, True]

    def test_a_time_cut_to_the_millisecond_is_widened(self) -> None:
        at = datetime(2024, 1, 1, 0, 0, 0, 999, tzinfo=UTC)
        stats = {
            "minValues": {"t": "2024-01-01T00:00:00.000Z"},
            "maxValues": {"t": "2024-01-01T00:00:00.000Z"},
        }

        exact = Comparison(("t",), "=", scalar(("t",), at))
        later = Comparison(("t",), "=", scalar(("t",), at + timedelta(microseconds=1)))

        assert _select(exact, stats) == [True]
        assert _select(later, stats) == [False]

    def test_a_prefix_selects_by_both_ends(self) -> None:
        selected = _select(
            Like(("s",), "b%"),
            {"minValues": {"s": "a"}, "maxValues": {"s": "az"}},
            {"minValues": {"s": "bx"}, "maxValues": {"s": "by"}},
            {"minValues": {"s": "c"}, "maxValues": {"s": "d"}},
        )

        assert selected == [False, True, False]

    def test_bounds_say_nothing_of_what_is_not_a_number(self) -> None:
        stats = {"numRecords": 2, "minValues": {"f": 5.0}, "maxValues": {"f": 5.0}}
        five = scalar(("f",), 5.0)

        assert _select(Comparison(("f",), "!=", five), stats) == [True]
        assert _select(Not(Comparison(("f",), "=", five)), stats) == [True]
        assert _select(Comparison(("f",), ">", five), stats) == [False]

    def test_a_literal_at_the_end_of_time_selects_everything(self) -> None:
        first = pa.scalar(-(2**63), pa.int64()).cast(pa.timestamp("us", "UTC"))
        stats = {
            "minValues": {"t": "2024-01-01T00:00:00.000Z"},
            "maxValues": {"t": "2024-01-01T00:00:00.000Z"},
        }

        assert _select(Comparison(("t",), ">=", first), stats) == [True]

    def test_too_many_partitions_are_not_tried(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("deltaweb.delta.scan.pruning.MAX_PARTITIONS_TRIED", 1)
        partitions = pa.array([{"p": "a"}, {"p": "b"}])

        selected = files_for_expression(pc.field("p") == "a", partitions, ROWS)

        assert selected.tolist() == [True, True]
