"""A value has one text, wherever one is written."""

import json
import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Final

import pyarrow as pa
import pytest
from django.http import StreamingHttpResponse

from apps.explorer.grid import cell, csv_rows, json_value
from apps.pages.responses import csv_response
from apps.tables.catalogue.adding.work.import_rows import cell_texts
from apps.tables.management.row_output import csv_lines, json_rows, row_lines
from deltaweb.delta.values.cell_text import cell_text
from deltaweb.delta.values.python_values import as_text, to_json_of

DOUBLES: Final = {
    1.0: "1.0",
    0.1: "0.1",
    1e-7: "1e-07",
    2.5e15: "2500000000000000.0",
    1e16: "1e+16",
    -1e300: "-1e+300",
    math.inf: "Infinity",
    -math.inf: "-Infinity",
}


@pytest.mark.parametrize(("value", "text"), DOUBLES.items())
def test_a_double_is_shown_one_way(value: float, text: str) -> None:
    rows = pa.table({"x": [value], "s": [{"x": value}]})
    nested = json.dumps({"x": value if math.isfinite(value) else text})
    response = csv_response([[value]], name="a")
    assert isinstance(response, StreamingHttpResponse)

    assert cell_text(value) == cell(value, UTC).text == text
    assert as_text(rows["x"].combine_chunks()).to_pylist() == [text]
    assert as_text(rows["s"].combine_chunks()).to_pylist() == [nested]
    assert [cell_texts(column) for column in rows.columns] == [[text], [nested]]
    assert [*row_lines(rows)][1].split(maxsplit=1) == [text, nested]
    assert [*csv_lines(rows.schema, rows.to_batches())][1].startswith(f"{text},")
    assert response.getvalue().decode() == f"{text}\r\n"
    shown = json_rows(rows)[0]["x"]
    assert json.dumps(shown).strip('"') == json.dumps(json_value(value)).strip('"')
    assert json.dumps(shown).strip('"') == text


def test_what_is_no_number_is_spelled_as_the_log_spells_it() -> None:
    assert cell_text(math.nan) == "NaN"
    assert as_text(pa.array([math.nan, None])).to_pylist() == ["NaN", None]
    assert as_text(pa.array([0.1], pa.float32())).to_pylist() == ["0.1"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(True, "true", id="a boolean"),
        pytest.param(Decimal("1E-7"), "0.0000001", id="a decimal"),
        pytest.param(b"\x00\xff", "00ff", id="bytes"),
        pytest.param(date(2026, 1, 31), "2026-01-31", id="a date"),
        pytest.param(
            datetime(2026, 1, 31, 12, tzinfo=timezone(timedelta(hours=1))),
            "2026-01-31T11:00:00Z",
            id="a time",
        ),
        pytest.param(
            datetime(2026, 1, 31, 12),  # noqa: DTZ001  # what has no zone
            "2026-01-31T12:00:00",
            id="a time without a zone",
        ),
        pytest.param(
            {"a": [1, None, math.nan], "b": True},
            '{"a": [1, null, "NaN"], "b": true}',
            id="a struct",
        ),
        pytest.param([("k", b"\x01")], '[["k", "01"]]', id="a map"),
    ],
)
def test_any_other_value_has_its_text(value: object, text: str) -> None:
    assert cell_text(value) == text


def test_pages_and_commands_have_one_json_of_a_row() -> None:
    item = pa.struct([("id", pa.int64()), ("tags", pa.list_(pa.int64()))])
    rows = pa.table(
        {
            "long": [5],
            "item": pa.array([{"id": 5, "tags": [2**60, 1]}], item),
            "price": pa.array([Decimal("1.50")]),
        }
    )
    shown = {
        name: to_json_of(rows[name].type)(rows[name][0].as_py())
        for name in rows.column_names
    }

    assert [shown] == json_rows(rows)
    assert shown["item"] == {"id": "5", "tags": ["1152921504606846976", "1"]}


def test_a_file_of_rows_holds_long_bytes_whole() -> None:
    image = bytes(100_000)
    rows = pa.table({"image": [image], "item": [{"image": image, "id": 5}]})

    [row] = csv_rows(rows.to_batches())
    response = csv_response([row], name="a")
    assert isinstance(response, StreamingHttpResponse)

    nested = json.dumps({"image": image.hex(), "id": "5"}).replace('"', '""')
    assert response.getvalue().decode() == f'{image.hex()},"{nested}"\r\n'
