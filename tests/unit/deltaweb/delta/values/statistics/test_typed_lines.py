"""Statistics of a few files read as those of many do, which another reader takes."""

import json

import pyarrow as pa
import pytest

from deltaweb.delta.values.statistics import lines as statistics_lines
from deltaweb.delta.values.statistics.typed_lines import read_typed_lines
from tests.support import cases
from tests.support.logs.parsed_statistics import parsed

COLUMNS = ["i", "n", "f", "s", "d", "st", "a.b"]
GOOD = json.dumps(
    {
        "numRecords": 3,
        "minValues": {
            "i": -(2**63),
            "n": -128,
            "f": 1,
            "s": "é",
            "d": "2021-01-31",
            "st": {"x": 1, "y": {"z": 2}},
            "a.b": 5,
            "m": 1.5,
        },
        "nullCount": {"i": 0, "st": {"x": 1}},
    }
)
TEXTS = {
    "good": GOOD,
    "null": None,
    "an empty text": "",
    "an empty object": "{}",
    "null for an object": '{"numRecords":1,"minValues":null}',
    "null for a nested object": '{"minValues":{"i":1,"st":null}}',
    "null for a value": '{"minValues":{"i":null,"s":null}}',
    "a key twice": '{"minValues":{"i":1},"minValues":{"n":2}}',
    "white space": '{ "minValues" :\n { "i" : 5 } }',
    "an escaped key": '{"minValues":{"\\u0069":5}}',
    "a fraction for a whole number": '{"minValues":{"i":5.0}}',
    "a power for a whole number": '{"minValues":{"i":1e2}}',
    "a number beyond a long": '{"minValues":{"i":9223372036854775808}}',
    "a number beyond a byte": '{"minValues":{"n":128}}',
    "a number beyond a double": '{"minValues":{"f":1e400}}',
    "many digits": '{"minValues":{"f":0.1000000000000000055511151231257827}}',
    "NaN": '{"minValues":{"f":"NaN"}}',
    "a truth for a number": '{"minValues":{"i":true}}',
    "a text for an object": '{"minValues":"x"}',
    "no date": '{"minValues":{"d":"2021-02-30"}}',
    "half a character": '{"minValues":{"s":"\\ud83d"}}',
    "half a character that is not asked for": '{"minValues":{"u":"\\ud83d"}}',
    "a NUL": '{"minValues":{"s":"a\\u0000b"}}',
    "no JSON where nothing is asked for": '{"numRecords":1,"x":01}',
    "two objects": "{}{}",
    "two lines": '{"numRecords":1}\n{"numRecords":2}',
    "torn": '{"numRecords":3',
    "deep nesting": '{"x":' + "[" * 5_000 + "]" * 5_000 + "}",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_few_texts_say_what_many_do(text: str | None, monkeypatch: pytest.MonkeyPatch):
    texts = [GOOD, text, GOOD]
    few = parsed(*texts, columns=COLUMNS)

    monkeypatch.setattr(statistics_lines, "FEW_ROWS", 0)

    assert repr(few) == repr(parsed(*texts, columns=COLUMNS))  # NaN equals nothing
    assert few[0]["min"]["st"] == {"x": 1, "y": {"z": 2}}


def read(schema: pa.Schema, *texts: bytes) -> list[dict[str, object]] | None:
    """The lines as rows, None where another reader has to take them."""
    table = read_typed_lines(pa.py_buffer(b"\n".join(texts)), schema)
    if table is None:
        return None
    table.validate(full=True)
    assert table.schema.equals(schema)
    rows: list[dict[str, object]] = table.to_pylist()
    return rows


class TestLines:
    def test_are_read_as_far_as_they_are_asked_for(self) -> None:
        inner = pa.struct([("no name", pa.int32()), ("none", pa.struct([]))])
        schema = pa.schema([("n", pa.int64()), ("in", inner), ("f", pa.float64())])

        rows = read(schema, b'{"n":1,"s":"x"}', b'{"in":{"no name":2}}', b'{"f":1}')

        assert rows == [
            {"n": 1, "in": None, "f": None},
            {"n": None, "in": {"no name": 2, "none": None}, "f": None},
            {"n": None, "in": None, "f": 1.0},
        ]

    @cases(
        "kind, line",
        {
            "a value of another type": (pa.int64(), b'{"a":"1"}'),
            "no JSON": (pa.int64(), b'{"a":1'),
            "no text beside it": (pa.int64(), b'{"b":"\xff"}'),
            "no text": (pa.string(), b'{"a":"\xff"}'),
            "a type that would be rounded": (pa.float32(), b'{"a":1}'),
        },
    )
    def test_are_left_to_another_reader_for(self, kind: pa.DataType, line: bytes):
        assert read(pa.schema([("a", kind)]), line) is None

    @pytest.mark.parametrize("name", ['qu"ote', "back\\slash", "new\nline", "\x7f", ""])
    def test_of_odd_names_are_read_or_left(self, name: str) -> None:
        line = json.dumps({name: 1}).encode()

        assert read(pa.schema([(name, pa.int64())]), line) in (None, [{name: 1}])
