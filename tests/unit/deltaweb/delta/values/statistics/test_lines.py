"""A text that says nothing takes nothing from its neighbours."""

import json

import pyarrow as pa
import pytest

from deltaweb.delta.values.statistics import lines as statistics_lines
from deltaweb.delta.values.statistics.columns import parse_statistics
from tests.support import cases
from tests.support.logs.parsed_statistics import SCHEMA, parsed


class TestTexts:
    @cases(
        "text",
        {
            "null": None,
            "empty": "",
            "an empty object": "{}",
            "torn": '{"numRecords":3',
            "no JSON": "nonsense",
            "a list": "[1]",
            "two objects": "{}{}",
            "two lines": '{"numRecords":1}\n{"numRecords":2}',
            "deep and torn": '{"a":' + "[" * 50_000,
            "a huge number": '{"numRecords":' + "1" * 5000 + "}",
            "a NUL byte": '{"a":"\x00"}',
        },
    )
    def test_that_say_nothing_leave_their_neighbours(self, text: str | None) -> None:
        rows = parsed('{"numRecords":7}', text, '{"numRecords":8}', columns=["i"])

        assert [row["num_records"] for row in rows] == [7, None, 8]

    @cases(
        "text",
        {
            "over lines": '\n{"numRecords": 5\n}\n',
            "a key twice": '{"numRecords":4,"numRecords":5}',
            "deep": '{"numRecords":5,"x":' + "[" * 900 + "]" * 900 + "}",
            "unknown keys": '{"numRecords":5,"tightBounds":true}',
        },
    )
    def test_of_unusual_form_are_read(self, text: str) -> None:
        rows = parsed('{"numRecords":7}', text, columns=["i"])

        assert [row["num_records"] for row in rows] == [7, 5]

    @cases(
        "broken",
        {"in a bound": b'{"minValues":{"s":"\xff"}}', "in a name": b'{"\xff":1}'},
    )
    def test_that_are_not_utf_8_say_nothing(self, broken: bytes) -> None:
        texts = pa.array([b'{"numRecords":7,"minValues":{"s":"a"}}', broken, b"{}"])
        data = pa.StringArray.from_buffers(len(texts), *texts.buffers()[1:])

        table = parse_statistics(pa.chunked_array([data]), SCHEMA, ["s"])

        assert table["num_records"].to_pylist() == [7, None, None]
        assert [(row or {}).get("s") for row in table["min"].to_pylist()] == [
            "a", None, None,
        ]  # fmt: skip

    def test_too_long_are_not_looked_at(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(statistics_lines, "MAX_STATS_BYTES", 16)

        rows = parsed('{"numRecords":7}', '{"numRecords":77}', columns=["i"])

        assert [row["num_records"] for row in rows] == [7, None]

    def test_of_no_files_have_the_columns_of_many(self) -> None:
        assert parsed(columns=["i"]) == []
        none = parse_statistics(pa.chunked_array([], pa.string()), SCHEMA, ["i"])
        assert none.schema.names == ["num_records", "min", "max", "null_count"]

    def test_in_many_slices_stay_row_for_row(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(statistics_lines, "FEW_ROWS", 0)
        monkeypatch.setattr(statistics_lines, "MIN_SLICE_ROWS", 3)
        monkeypatch.setattr(statistics_lines, "SLICE_ROWS", 3)
        monkeypatch.setattr(statistics_lines, "SLICE_BYTES", 40)
        monkeypatch.setattr(statistics_lines, "RETRY_ROWS", 1)
        texts = [json.dumps({"numRecords": i}) for i in range(20)]
        texts[7] = "broken"

        rows = parsed(*texts, columns=["i"])

        expected = [None if i == 7 else i for i in range(20)]
        assert [row["num_records"] for row in rows] == expected
