"""Bounds are exact where the log is right, and unknown where it is not."""

import math
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from tests.support import cases
from tests.support.logs.parsed_statistics import bound, parsed


class TestValues:
    @pytest.mark.parametrize(
        ("name", "value", "expected"),
        [
            pytest.param("i", 2**53 + 1, 2**53 + 1, id="beyond a double"),
            pytest.param("i", -(2**63), -(2**63), id="the least long"),
            pytest.param("f", 1, 1.0, id="a whole number for a double"),
            pytest.param("g", 1.1, pa.scalar(1.1, pa.float32()).as_py(), id="a float"),
            pytest.param(
                "g",
                1.100000023841858,
                pa.scalar(1.1, pa.float32()).as_py(),
                id="a float that was widened",
            ),
            pytest.param("s", "é\U0010ffff", "é\U0010ffff", id="text"),
            pytest.param("s", "", "", id="an empty text"),
            pytest.param("b", False, False, id="a boolean"),
            pytest.param("d", "0001-01-01", date(1, 1, 1), id="a date"),
            pytest.param(
                "t",
                "2021-01-01T00:00:00.123-08:00",
                datetime(2021, 1, 1, 8, 0, 0, 123000, UTC),
                id="an offset",
            ),
            pytest.param(
                "t",
                "2021-01-01T00:00:00.123456Z",
                datetime(2021, 1, 1, 0, 0, 0, 123456, UTC),
                id="micros",
            ),
            pytest.param(
                "z",
                "2021-01-01T00:00:00.123",
                datetime(2021, 1, 1, 0, 0, 0, 123000),  # noqa: DTZ001 # no zone
                id="a time without a zone",
            ),
            pytest.param("a.b", 5, 5, id="a name with a dot"),
        ],
    )
    def test_are_exact(self, name: str, value: object, expected: object) -> None:
        assert bound(name, value) == expected

    def test_of_decimals_keep_every_digit(self) -> None:
        text = '{"minValues":{"m":12345678901234567890.123456789012345678}}'

        assert parsed(text, columns=["m"])[0]["min"]["m"] == Decimal(
            "12345678901234567890.123456789012345678"
        )

    @cases(
        "name, value",
        {
            "text for a number": ("i", "5"),
            "a fraction for a whole number": ("i", 1.5),
            "a number beyond the range": ("i", 2**63),
            "a number beyond a byte": ("n", 300),
            "a boolean for a number": ("i", True),
            "an object for a number": ("i", {"x": 1}),
            "a number for text": ("s", 5),
            "text that ends in half a character": ("s", "a\ud83d"),
            "a number for a boolean": ("b", 1),
            "no day": ("d", "2021-02-30"),
            "a number for a date": ("d", 5),
            "no time": ("t", "noon"),
            "a decimal with too many digits": ("m", 1e30),
            "a decimal that would overflow": ("m", 10**37),
            "a decimal beyond all types": ("m", 10**38),
            "text for a double": ("f", "many"),
            "a number for a struct": ("st", 5),
            "null": ("i", None),
        },
    )
    def test_of_a_wrong_type_are_unknown(self, name: str, value: object) -> None:
        known = bound(name, value)

        assert known is None or known == {"x": None, "y": None}

    def test_that_json_cannot_write_as_numbers_are_read_from_text(self) -> None:
        assert math.isnan(bound("f", "NaN"))
        assert bound("f", "-Infinity") == -math.inf

    def test_too_large_for_a_double_say_nothing_beside_broken_rows(self) -> None:
        rows = parsed('{"minValues":{"f":1e400}}', "broken", columns=["f"])

        assert rows[0]["min"] == {"f": None}

    def test_of_one_broken_column_leave_the_others(self) -> None:
        row = parsed(
            '{"numRecords":3,"minValues":{"i":"x","s":"a"},"nullCount":{"i":1}}',
            columns=["i", "s"],
        )[0]

        assert row["num_records"] == 3
        assert row["min"] == {"i": None, "s": "a"}
        assert row["null_count"] == {"i": 1, "s": None}
