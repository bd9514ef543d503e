import json
from datetime import UTC, date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

from apps.explorer.files.form import FileFilter
from apps.explorer.files.selector import file_page, file_rows
from apps.explorer.grid import (
    cell,
    chunk_length,
    cut_texts,
    json_value,
    named_value,
)
from apps.explorer.partitions.selector import (
    PartitionFilter,
    partition_page,
    partition_totals,
)
from tests.support import cases

BERLIN = ZoneInfo("Europe/Berlin")


class TestCell:
    @cases(
        "value, kind, text",
        {
            "null is a badge": (None, "null", ""),
            "empty text is not null": ("", "empty", ""),
            "a long": (2**63 - 1, "number", "9223372036854775807"),
            "a decimal's scale": (Decimal("1.50"), "number", "1.50"),
            "no exponent": (Decimal("1E+3"), "number", "1000"),
            "a double": (0.1, "number", "0.1"),
            "not a number": (float("nan"), "number", "NaN"),
            "endless": (float("-inf"), "number", "-Infinity"),
            "a boolean is no number": (True, "text", "true"),
            "a date": (date(2026, 1, 2), "text", "2026-01-02"),
            "short binary": (b"\x9f\x3c", "binary", "9f 3c (2 B)"),
        },
    )
    def test_shows_a_value_of_each_type(self, value: object, kind: str, text: str):
        shown = cell(value, UTC)

        assert (shown.kind, shown.text) == (kind, text)

    def test_an_instant_is_shown_in_the_readers_zone(self) -> None:
        moment = datetime(2026, 7, 1, 22, 30, 0, 113_000, tzinfo=UTC)

        assert cell(moment, BERLIN).text == "2026-07-02 00:30:00.113"

    def test_a_time_without_a_zone_keeps_its_own(self) -> None:
        assert cell(datetime(2026, 7, 1, 22, 30), BERLIN).text == "2026-07-01 22:30:00"  # noqa: DTZ001 (timestamp_ntz)

    def test_the_last_instant_does_not_overflow_in_an_eastern_zone(self) -> None:
        assert cell(datetime.max.replace(tzinfo=UTC), BERLIN).text.startswith("9999")

    def test_long_binary_keeps_its_bytes_in_the_panel(self) -> None:
        shown = cell(bytes(range(32)), UTC)

        assert shown.text == "00 01 02 03 04 05 06 07 … (32 B)"
        assert shown.detail.endswith("1e 1f")

    @pytest.mark.parametrize("word", ["null", "NULL", "Null"])
    def test_nothing_within_a_nested_value_differs_from_the_word(self, word: str):
        shown = cell({"a": None, "b": word, "c": "nullable"}, UTC)

        assert shown.text == f'{{a: null, b: "{word}", c: nullable}}'

    def test_a_nested_value_has_a_line_and_a_tree(self) -> None:
        value = {"id": 2**60, "segment": "new", "tags": [("a", None)]}

        shown = cell(value, UTC)

        assert shown.text == "{id: 1152921504606846976, segment: new, tags: {a: null}}"
        assert json.loads(shown.detail) == {
            "id": "1152921504606846976",
            "segment": "new",
            "tags": {"a": None},
        }

    def test_a_long_text_is_cut_on_the_line_alone(self) -> None:
        shown = cell("x" * 5000, UTC)

        assert len(shown.text) == 120
        assert len(shown.detail) == 2000
        assert shown.detail.endswith("x…")

    def test_blanks_and_breaks_of_a_text_stay(self) -> None:
        assert cell("  a\nb ", UTC).text == "  a\nb "

    def test_a_decimal_has_no_exponent(self) -> None:
        assert cell(Decimal("1E-20"), UTC).text == "0.00000000000000000001"


class TestJSONValue:
    def test_longs_and_decimals_are_text(self) -> None:
        assert json_value(7, is_long=True) == "7"
        assert json_value(7) == 7
        assert json_value(2**53) == str(2**53)
        assert json_value(Decimal("12.30")) == "12.30"

    def test_what_json_has_no_number_for_is_text(self) -> None:
        assert json_value(float("inf")) == "Infinity"

    def test_instants_are_utc(self) -> None:
        moment = datetime(2026, 7, 2, 0, 30, tzinfo=BERLIN)

        assert json_value(moment) == "2026-07-01T22:30:00Z"

    def test_a_map_with_keys_that_are_no_text_is_a_list_of_entries(self) -> None:
        assert json_value([(1, "a")]) == [{"key": 1, "value": "a"}]

    def test_a_map_with_a_key_twice_loses_none(self) -> None:
        assert json_value([("a", 1), ("a", 2)]) == [
            {"key": "a", "value": 1},
            {"key": "a", "value": 2},
        ]


def test_a_partition_of_no_value_differs_from_one_of_the_word() -> None:
    assert named_value("country", None) == "country is null"
    assert named_value("country", "null") == "country=null"


LONG = "x" * 1_000_000


def files(*values: str) -> pa.Table:
    count = len(values)
    return pa.table(
        {
            "path": pa.array([f"{n}.parquet" for n in range(count)], pa.string()),
            "size": pa.array([1] * count, pa.int64()),
            "modification_time": pa.array([0] * count, pa.int64()),
            "partition_values": pa.array(
                [[("p", value)] for value in values], pa.map_(pa.string(), pa.string())
            ),
        }
    )


class TestALongText:
    def test_is_cut_and_says_how_long_it_is(self) -> None:
        (cut,) = cut_texts(pa.array([LONG])).to_pylist()

        assert cut == f"{'x' * 300}… (1000000 characters)"

    def test_others_stay_as_they_are(self) -> None:
        texts = pa.array(["x" * 500, None, ""])

        assert cut_texts(texts) is texts

    def test_an_export_holds_fewer_rows_of_long_values_at_once(self) -> None:
        assert chunk_length(files(LONG, LONG), 5000) < 10
        assert chunk_length(files("a", "b"), 5000) == 5000


class TestFilesOfLongPartitionValues:
    def test_show_their_beginning(self) -> None:
        page = file_page(files(LONG, "b"), FileFilter(sort="path"), ["p"])

        values = [dict(file.partition)["p"] for file in page.files]
        assert values == [f"{'x' * 300}… (1000000 characters)", "b"]

    def test_have_them_whole_in_csv(self) -> None:
        lines = list(file_rows(files(LONG), FileFilter(), ["p"]))

        assert lines[1][1] == LONG


class TestPartitionsOfLongValues:
    def test_are_added_up_by_the_whole_value(self) -> None:
        totals = partition_totals(files(f"{LONG}a", f"{LONG}b", f"{LONG}a"), ["p"])

        assert totals["files"].to_pylist() == [2, 1]

    def test_show_its_beginning_without_a_link(self) -> None:
        totals = partition_totals(files(LONG, "b"), ["p"])
        page = partition_page(totals, PartitionFilter(sort="values"), ["p"], 1)

        assert [one.is_cut for one in page.partitions] == [False, True]
        assert totals.nbytes < 2_000
