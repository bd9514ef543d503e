import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.delta.protocol.schema import ArrayType, DecimalType, PrimitiveType
from deltaweb.delta.values.value_text import Value, arrow_array, parse_value
from tests.support import cases

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def micros(year: int, month: int, day: int, *time: int) -> int:
    hour, minute, second, micro = (*time, 0, 0, 0, 0)[:4]
    at = datetime(year, month, day, hour, minute, second, micro, UTC)
    return (at - EPOCH) // MICROSECOND


class TestReading:
    @cases(
        "name, text, expected",
        {
            "the least long": ("long", "-9223372036854775808", -(2**63)),
            "a sign": ("byte", "+127", 127),
            "Java's exponent": ("double", "1.0E10", 1e10),
            "infinity": ("double", "-Infinity", -math.inf),
            "no digit before the point": ("float", ".5", 0.5),
            "a boolean in capitals": ("boolean", "TRUE", True),
            "a date": ("date", "1970-01-02", 1),
            "a date before the epoch": ("date", "1969-12-31", -1),
            "a year of five digits": ("date", "10000-01-01", 2932897),
            "a date without zeros": ("date", "2020-2-9", 18301),
            "the specification's form": (
                "timestamp",
                "2020-02-29 12:00:00",
                micros(2020, 2, 29, 12),
            ),
            "a fraction": ("timestamp", "1969-12-31 23:59:59.5", -500_000),
            "ISO 8601": (
                "timestamp",
                "2020-02-29T12:00:00.123456Z",
                micros(2020, 2, 29, 12, 0, 0, 123456),
            ),
            "an offset": (
                "timestamp",
                "2020-02-29T12:00:00.000-08:00",
                micros(2020, 2, 29, 20),
            ),
            "an offset without a colon": (
                "timestamp",
                "2020-02-29T12:00:00+0130",
                micros(2020, 2, 29, 10, 30),
            ),
            "midnight": ("timestamp", "2020-02-29", micros(2020, 2, 29)),
            "no seconds": (
                "timestamp",
                "2020-02-29 12:30",
                micros(2020, 2, 29, 12, 30),
            ),
            "nanoseconds are cut": (
                "timestamp",
                "1970-01-01 00:00:00.123456789",
                123456,
            ),
            "no zone": ("timestamp_ntz", "1970-01-01 00:00:01", 1_000_000),
            "an empty text": ("string", "", ""),
            "bytes as characters": ("binary", "\u0001\u0002", b"\x01\x02"),
            "escapes in the text": ("binary", "\\u0001\\u00FF", b"\x01\xff"),
            "bytes as UTF-8": ("binary", "é", "é".encode()),
        },
    )
    def test_is_exact(self, name: str, text: str, expected: Value) -> None:
        assert parse_value(text, PrimitiveType(name)) == expected

    def test_knows_not_a_number(self) -> None:
        assert math.isnan(float(parse_value("NaN", PrimitiveType("double"))))

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            *(
                ("long", text)
                for text in ["", "1.0", "1e3", "0x1F", "9" * 30, "1_0", " 1"]
            ),
            ("byte", "128"),
            ("short", "-32769"),
            *(("double", text) for text in ["", "1_0", "e5", "1e", "0x1p3", "nano"]),
            *(("boolean", text) for text in ["", "1", "yes"]),
            *(("date", text) for text in ["2020-02-30", "2021-02-29", "2020-13-01"]),
            *(("date", text) for text in ["2020-01-00", "2020-00-01", "20200101", "x"]),
            *(
                ("timestamp", text)
                for text in ["2020-01-01 24:00:00", "2020-01-01 00:60"]
            ),
            *(("timestamp", text) for text in ["2020-01-01 00:00:61", "noon"]),
            ("timestamp", "400000-01-01 00:00:00"),
            ("timestamp_ntz", "2020-01-01T00:00:00Z"),
            ("long", "1" * 2000),
            ("void", "x"),
        ],
    )
    def test_refuses_what_is_no_value(self, name: str, text: str) -> None:
        with pytest.raises(ValueError):  # noqa: PT011 # the caller says what is wrong
            parse_value(text, PrimitiveType(name))

    def test_refuses_nested_types(self) -> None:
        with pytest.raises(ValueError, match="x"):
            parse_value("x", ArrayType(PrimitiveType("long")))

    @cases(
        "text, expected",
        {
            "negative": ("-12.340", Decimal("-12.340")),
            "padded": ("7", Decimal("7.000")),
            "an exponent": ("1E+3", Decimal("1000.000")),
            "zero with an exponent": ("0E-20", Decimal("0.000")),
            "zeros beyond the scale": ("1.5000", Decimal("1.500")),
        },
    )
    def test_of_decimals_keeps_every_digit(self, text: str, expected: Decimal) -> None:
        value = parse_value(text, DecimalType(10, 3))

        assert str(value) == str(expected)

    @pytest.mark.parametrize(
        "text", ["1.0001", "12345678", "1E+9", "NaN", "", "1E99999"]
    )
    def test_of_decimals_refuses_lost_digits(self, text: str) -> None:
        with pytest.raises(ValueError):  # noqa: PT011 # the caller says what is wrong
            parse_value(text, DecimalType(10, 3))

    @given(at=st.dates())
    def test_of_dates_agrees_with_python(self, at: date) -> None:
        days = parse_value(at.isoformat(), PrimitiveType("date"))

        assert days == at.toordinal() - date(1970, 1, 1).toordinal()

    @given(at=st.datetimes())
    def test_of_times_agrees_with_python(self, at: datetime) -> None:
        value = parse_value(at.isoformat(" "), PrimitiveType("timestamp"))

        assert value == (at.replace(tzinfo=UTC) - EPOCH) // MICROSECOND


class TestArrays:
    def test_hold_dates_and_times_of_any_year(self) -> None:
        days = arrow_array([2932897, None], PrimitiveType("date"))
        ticks = arrow_array([2**62], PrimitiveType("timestamp"))

        assert days.type == pa.date32()
        assert days.cast(pa.int32()).to_pylist() == [2932897, None]
        assert ticks.type == pa.timestamp("us", "UTC")
        assert ticks.cast(pa.int64()).to_pylist() == [2**62]

    def test_of_nothing_but_nulls(self) -> None:
        assert arrow_array([None, None], PrimitiveType("void")).equals(pa.nulls(2))
