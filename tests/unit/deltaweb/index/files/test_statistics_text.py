"""Statistics as text: the log's own, or what a writer would have written."""

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.log.blocks import RawStatistics
from deltaweb.delta.protocol.schema import parse_schema
from deltaweb.delta.values.statistics.columns import read_statistics
from deltaweb.index.files.statistics_text import statistics_texts
from tests.support.logs.local_logs import typed_schema


def written(values: list[Any], data_type: pa.DataType) -> list[Any]:
    """Return the smallest value as text, of statistics that are typed alone."""
    bounds = pa.struct([("c", data_type)])
    kind = pa.struct([("numRecords", pa.int64()), ("minValues", bounds)])
    rows = [{"numRecords": 1, "minValues": {"c": value}} for value in values]
    parsed = pa.chunked_array([pa.array(rows, kind)])
    texts = statistics_texts(RawStatistics(None, parsed), None, len(values))
    return [json.loads(text)["minValues"].get("c") for text in texts.to_pylist()]


class TestWrittenText:
    @pytest.mark.parametrize(
        ("value", "data_type", "expected"),
        [
            pytest.param(-7, pa.int32(), -7, id="integer"),
            pytest.param(2**62, pa.int64(), 2**62, id="long"),
            pytest.param(1.5, pa.float64(), 1.5, id="double"),
            pytest.param(1e300, pa.float64(), 1e300, id="large double"),
            pytest.param(float("nan"), pa.float64(), None, id="NaN"),
            pytest.param(float("-inf"), pa.float64(), None, id="infinity"),
            pytest.param(True, pa.bool_(), True, id="boolean"),
            pytest.param('a"\\\n\u2028é', pa.string(), 'a"\\\n\u2028é', id="text"),
            pytest.param(b"x", pa.binary(), None, id="binary"),
            pytest.param(date(2026, 1, 2), pa.date32(), "2026-01-02", id="date"),
            pytest.param(3_000_000, pa.date32(), None, id="year of five digits"),
            pytest.param(Decimal("1.50"), pa.decimal128(9, 2), 1.5, id="decimal"),
            pytest.param(
                datetime(2026, 1, 2, 3, 4, 5, 678_000, UTC),
                pa.timestamp("us", "UTC"),
                "2026-01-02T03:04:05.678Z",
                id="milliseconds",
            ),
            pytest.param(
                datetime(2026, 1, 2, 3, 4, 5, 678_901, UTC),
                pa.timestamp("us", "UTC"),
                "2026-01-02T03:04:05.678901Z",
                id="microseconds",
            ),
            pytest.param(
                datetime(1905, 1, 2, 3, 4, 5),  # noqa: DTZ001 (an old 96-bit time)
                pa.timestamp("ns"),
                "1905-01-02T03:04:05.000Z",
                id="a time without a zone",
            ),
            pytest.param(1, pa.timestamp("ns"), None, id="nanoseconds"),
            pytest.param([1], pa.list_(pa.int64()), None, id="array"),
            pytest.param(None, pa.int64(), None, id="null"),
        ],
    )
    def test_spells_values_as_writers_do(self, value, data_type, expected):
        assert written([value], data_type) == [expected]

    def test_reads_back_as_what_it_was_written_from(self) -> None:
        columns = {"i": "long", "d": "double", "s": "string", "t": "timestamp"}
        kinds = {
            "i": pa.int64(),
            "d": pa.float64(),
            "s": pa.string(),
            "t": pa.timestamp("us", "UTC"),
        }
        moment = datetime(2026, 1, 2, tzinfo=UTC)
        bounds = [
            {"i": n, "d": n / 3, "s": f"é{n}", "t": moment + timedelta(microseconds=n)}
            for n in range(5)
        ]
        struct = pa.struct(list(kinds.items()))
        counts = pa.struct([(name, pa.int64()) for name in kinds])
        parsed = pa.chunked_array(
            [
                pa.StructArray.from_arrays(
                    [
                        pa.array(range(5), pa.int64()),
                        pa.array(bounds, struct),
                        pa.array(bounds, struct),
                        pa.array([dict.fromkeys(kinds, n) for n in range(5)], counts),
                    ],
                    names=["numRecords", "minValues", "maxValues", "nullCount"],
                )
            ]
        )

        texts = statistics_texts(RawStatistics(None, parsed), None, 5)

        schema = parse_schema(typed_schema(**columns))
        again = read_statistics(pa.chunked_array([texts]), None, schema)
        assert again.equals(read_statistics(None, parsed, schema))

    def test_nests_and_leaves_out_what_is_null(self) -> None:
        parsed = pa.array(
            [
                {"numRecords": 2, "minValues": {"s": {"a": 1, "b": None}}},
                {"numRecords": 3, "minValues": None},
                {"numRecords": None, "minValues": {"s": {"a": 1, "b": 2}}},
                None,
            ]
        )

        texts = statistics_texts(
            RawStatistics(None, pa.chunked_array([parsed])), None, 4
        )

        assert texts.to_pylist() == [
            '{"numRecords":2,"minValues":{"s":{"a":1}}}',
            '{"numRecords":3}',
            None,
            None,
        ]

    def test_takes_the_spelling_of_the_appendix(self) -> None:
        parsed = pa.array([{"numRecords": 2, "nullCounts": {"a": 1}}])

        texts = statistics_texts(
            RawStatistics(None, pa.chunked_array([parsed])), None, 1
        )

        assert texts.to_pylist() == ['{"numRecords":2,"nullCount":{"a":1}}']


class TestTextOfTheLog:
    def test_is_passed_on_as_it_is(self) -> None:
        text = pa.chunked_array([["not JSON", None, ' {"numRecords" : 1 } ']])

        texts = statistics_texts(RawStatistics(text, None), None, 3)

        assert texts.to_pylist() == ["not JSON", None, ' {"numRecords" : 1 } ']

    def test_comes_before_typed_statistics(self) -> None:
        parsed = pa.chunked_array([pa.array([{"numRecords": n} for n in range(2)])])
        text = pa.chunked_array([pa.array(["text", None], pa.string())])

        texts = statistics_texts(RawStatistics(None, parsed), lambda: text, 2)

        assert texts.to_pylist() == ["text", '{"numRecords":1}']

    @pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view()], ids=str)
    def test_may_be_of_any_type_of_text(self, kind: pa.DataType) -> None:
        text = pa.chunked_array([["a", None], ["b"]], pa.string()).cast(kind)

        texts = statistics_texts(RawStatistics(text, None), None, 3)

        assert texts.equals(pa.array(["a", None, "b"], pa.string()))

    def test_of_no_rows_is_none(self) -> None:
        nothing = pa.chunked_array([], pa.string())

        assert len(statistics_texts(RawStatistics(nothing, None), None, 0)) == 0

    def test_is_null_where_typed_statistics_count_no_rows(self) -> None:
        parsed = pa.chunked_array([pa.array([{"minValues": {"a": 1}}])])

        texts = statistics_texts(RawStatistics(None, parsed), None, 1)

        assert texts.to_pylist() == [None]

    def test_is_null_where_the_log_has_nothing(self) -> None:
        texts = statistics_texts(RawStatistics(None, None), None, 2)

        assert texts.to_pylist() == [None, None]
