import csv
import io
import json
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

import pytest
from django.test import RequestFactory

from apps.pages.responses import csv_response, respond, to_json
from tests.support import cases

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.http import StreamingHttpResponse


def text_of(response: object) -> str:
    streamed = cast("Iterable[bytes]", cast("StreamingHttpResponse", response))
    return b"".join(streamed).decode()


class TestToJson:
    @cases(
        "value, expected",
        {
            "a whole number stays exact": (2**63 - 1, 2**63 - 1),
            "a decimal is text": (Decimal("1.50"), "1.50"),
            "without an exponent": (Decimal("1E-9"), "0.000000001"),
            "NaN is null": (float("nan"), None),
            "infinity is null, nested too": ([float("inf")], [None]),
            "bytes are hex": (b"\x00\xff", "00ff"),
            "a time is UTC": (
                datetime(2026, 1, 2, 3, tzinfo=timezone(timedelta(hours=1))),
                "2026-01-02T02:00:00Z",
            ),
        },
    )
    def test_writes_values_that_every_reader_takes(self, value, expected):
        assert json.loads(to_json({"value": value})) == {"value": expected}


class TestCsvResponse:
    def test_streams_the_rows_in_order(self) -> None:
        rows: list[tuple[object, ...]] = [("version", "text")]
        rows += [(n, f"row, {n}") for n in range(450)]

        text = text_of(csv_response(rows, name="history"))

        parsed = list(csv.reader(io.StringIO(text)))
        assert parsed == [[str(cell) for cell in row] for row in rows]

    @pytest.mark.parametrize(
        ("value", "cell"),
        [
            ("-9223372036854775808", "-9223372036854775808"),
            ("-1.50", "-1.50"),
            ("+1E-7", "+1E-7"),
            ("-1+cmd()", "'-1+cmd()"),
            ("-1\n", '"\'-1\n"'),
            (True, "true"),
            (False, "false"),
        ],
    )
    def test_a_number_and_a_truth_value_are_left_as_they_are(self, value, cell):
        assert text_of(csv_response([(value, "x")], name="x")) == f"{cell},x\r\n"

    @pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "＝", "＠"])
    def test_keeps_a_spreadsheet_from_running_a_text(self, start: str) -> None:
        text = text_of(csv_response([(f"{start}1+1",)], name="x"))

        assert text.startswith(("'", "\"'"))

    @cases(
        "value, cell",
        {
            "null is empty": (None, ""),
            "a negative number stays a number": (-5, "-5"),
            "time": (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00Z"),
            "nested values are JSON": ({"a": 1}, '{"a": 1}'),
        },
    )
    def test_writes_values_as_text(self, value: object, cell: str) -> None:
        text = text_of(csv_response([(value, "end")], name="x"))

        assert next(csv.reader(io.StringIO(text))) == [cell, "end"]


class TestRespond:
    def test_makes_nothing_for_a_client_that_has_left(self) -> None:
        request = RequestFactory().get("/tables/")
        request.META["deltaweb.has_left"] = lambda: True

        response = respond(
            request, "html", template="no/such/template.html", context={}, data={}
        )

        assert response.status_code == 499

    @pytest.fixture
    def arguments(self) -> dict[str, Any]:
        return {
            "template": "pages/_mark.html",
            "context": {},
            "data": {"count": 1},
            "rows": [("count",), (1,)],
        }

    def test_answers_a_page(self, arguments: dict[str, Any]) -> None:
        response = respond(RequestFactory().get("/tables/"), "html", **arguments)

        assert "<svg" in text_of([cast("Any", response).content])
        assert "HX-Request" in response["Vary"]

    def test_answers_json(self, arguments: dict[str, Any]) -> None:
        response = respond(RequestFactory().get("/tables.json"), "json", **arguments)

        assert json.loads(cast("Any", response).content) == {"count": 1}
        assert response["Cache-Control"] == "no-store"

    def test_answers_csv_as_a_download_named_by_its_path(self, arguments):
        request = RequestFactory().get("/t/default/orders/files.csv")
        response = respond(request, "csv", **arguments)

        assert text_of(response) == "count\r\n1\r\n"
        assert 'filename="orders-files.csv"' in response["Content-Disposition"]


def test_no_value_an_empty_text_and_small_decimals_are_told_in_csv() -> None:
    row = [None, "", "null", Decimal("1E-9")]

    assert text_of(csv_response([row], name="x")) == ',"",null,0.000000001\r\n'


def test_rows_of_long_values_are_sent_one_by_one() -> None:
    response = csv_response([["x" * 100_000]] * 3, name="x")

    assert len([part for part in response if part]) == 3
