"""Typed statistics of a checkpoint as the text that the log would have."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.protocol.schema import DecimalType, PrimitiveType, StructType
from deltaweb.delta.values.statistics.text import texts_of_each
from tests.support import cases
from tests.support.tables.row_tables import LONG, STRING, TIMESTAMP, schema_of

SCHEMA = schema_of(
    n=LONG,
    s=STRING,
    t=TIMESTAMP,
    l=PrimitiveType("timestamp_ntz"),
    d=PrimitiveType("date"),
    f=PrimitiveType("float"),
    x=DecimalType(12, 3),
    st=StructType(schema_of(t=TIMESTAMP).fields),
)
NOON = datetime(2024, 3, 10, 12, 0, 0, 123_000)  # noqa: DTZ001  # as Arrow has 96 bits
FINE = NOON.replace(microsecond=123_456)
VALUES: dict[str, Any] = {
    "n": 1,
    "s": "ü",
    "t": NOON,
    "l": FINE,
    "d": date(2024, 3, 10),
    "f": float("nan"),
    "x": Decimal("1.500"),
    "st": {"t": NOON},
}
SAID = {
    "n": 1,
    "s": "ü",
    "t": "2024-03-10T12:00:00.123Z",
    "l": "2024-03-10T12:00:00.123456",
    "d": "2024-03-10",
    "f": "NaN",
    "x": 1.5,
    "st": {"t": "2024-03-10T12:00:00.123Z"},
}


def told(rows, *, text=None, is_marked=False):
    marks = pa.array([is_marked] * len(rows), pa.bool_())
    texts = None if text is None else pa.array(text, pa.string())
    found = texts_of_each(texts, pa.array(rows), marks, SCHEMA).to_pylist()
    return [None if one is None else json.loads(one) for one in found]


@pytest.mark.parametrize("zone", [None, UTC])
def test_instants_have_their_zone_however_a_checkpoint_stores_them(zone):
    values = {**VALUES, "t": NOON.replace(tzinfo=zone)}
    counts = {"n": 0, "s": None}
    row = {"numRecords": 3, "minValues": values, "nullCount": counts}

    assert told([row]) == [{"numRecords": 3, "minValues": SAID, "nullCount": {"n": 0}}]


def test_bounds_of_a_file_with_a_vector_are_said_to_be_wide() -> None:
    row = {"numRecords": 3, "nullCounts": {"n": 1}}

    assert told([row], is_marked=True) == [
        {"numRecords": 3, "nullCount": {"n": 1}, "tightBounds": False}
    ]
    assert told([{**row, "tightBounds": False}])[0]["tightBounds"] is False


def test_text_of_the_log_is_kept() -> None:
    text = '{"numRecords":7}'

    found = told([{"numRecords": 1}, {"numRecords": 2}, None], text=[text, None, None])

    assert found == [{"numRecords": 7}, {"numRecords": 2}, None]
    marks = pa.array([False])
    assert texts_of_each(None, None, marks, SCHEMA).to_pylist() == [None]


@cases(
    "bound",
    {
        "a year of five digits": pa.array([2**60], pa.timestamp("us")),
        "long ago": pa.array([-(2**60)], pa.timestamp("us", "UTC")),
        "no day": pa.array([2**30], pa.int32()).cast(pa.date32()),
        "a type of no table": pa.array([1], pa.time64("us")),
        "no text": pa.array([b"\xff"]).view(pa.string()),
    },
)
def test_what_no_reader_understands_is_unknown(bound: pa.Array) -> None:
    counts = pa.array([3])
    bounds = pa.StructArray.from_arrays([bound], names=["n"])
    parsed = pa.StructArray.from_arrays([counts, bounds], ["numRecords", "minValues"])

    (text,) = texts_of_each(None, parsed, pa.array([False]), SCHEMA).to_pylist()

    assert text == '{"numRecords":3}'
