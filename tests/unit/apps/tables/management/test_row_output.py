"""Rows for people and for scripts are exact, whatever their types."""

import csv

import pyarrow as pa

from apps.tables.management.row_output import csv_lines, json_rows, row_lines
from tests.support import cases

ROWS = pa.table(
    {
        "long": pa.array([2**60 + 1, None], pa.int64()),
        "decimal": pa.array(["12345678901234567890.10", None]).cast(
            pa.decimal128(38, 2)
        ),
        "text": ["a,b", ""],
        "at": pa.array([0, 1], pa.timestamp("us", "UTC")),
        "bytes": pa.array([b"\x00\xff", None]),
        "double": [float("nan"), float("-inf")],
        "nested": pa.array(
            [{"id": 2**60 + 1, "tags": ["x"]}, None],
            pa.struct([("id", pa.int64()), ("tags", pa.list_(pa.string()))]),
        ),
    }
)


def test_json_keeps_longs_and_decimals_as_text() -> None:
    first, second = json_rows(ROWS)

    assert first["long"] == "1152921504606846977"
    assert first["decimal"] == "12345678901234567890.10"
    assert first["nested"] == {"id": "1152921504606846977", "tags": ["x"]}
    assert first["at"] == "1970-01-01T00:00:00Z"
    assert first["bytes"] == "00ff"
    assert (first["double"], second["double"]) == ("NaN", "-Infinity")
    assert second["long"] is None


def test_csv_is_exact_and_quotes_what_it_must() -> None:
    lines = list(csv_lines(ROWS.schema, ROWS.to_batches()))
    rows = list(csv.reader(lines))

    assert rows[1][:3] == ["1152921504606846977", "12345678901234567890.10", "a,b"]
    assert rows[2][:2] == ["", ""]


def test_a_table_for_people_shows_nulls() -> None:
    lines = list(row_lines(ROWS))

    assert "NULL" in lines[2]
    assert "1152921504606846977" in lines[1]


@cases(
    "write",
    {
        "a table": lambda rows: "\n".join(row_lines(rows)),
        "CSV": lambda rows: "\n".join(csv_lines(rows.schema, rows.to_batches())),
        "JSON": lambda rows: str(json_rows(rows)),
    },
)
def test_times_beyond_what_python_holds_are_written_as_text(write):
    times = pa.array([2**31 - 1, 0], pa.int32()).cast(pa.date32())

    text = write(pa.table({"day": times}))

    assert "2147483647" in text
    assert "1970-01-01" in text


def test_csv_tells_no_value_from_an_empty_text_and_has_no_exponents() -> None:
    small = pa.array(["0.0000000001", None, "1"]).cast(pa.decimal128(38, 10))
    rows = pa.table({"text": ["", None, "null"], "price": small})

    assert list(csv_lines(rows.schema, rows.to_batches()))[1:] == [
        '"",0.0000000001',
        ",",
        "null,1.0000000000",
    ]
