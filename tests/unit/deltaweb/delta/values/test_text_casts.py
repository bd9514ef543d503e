"""Texts are read as Spark's casts read them."""

import math
from collections.abc import Callable
from decimal import Decimal
from functools import partial

import pyarrow as pa
import pytest

from deltaweb.delta.values import text_casts

DAY_US = 86_400_000_000


def is_value(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except (ValueError, OverflowError):
        return False
    return True


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (text_casts.integer_of, " +007\t", 7),
        (text_casts.double_of, " -1.5e3 ", -1500.0),
        (text_casts.double_of, ".5f", 0.5),
        (text_casts.double_of, "2.D", 2.0),
        (text_casts.double_of, " InFinity", math.inf),
        (text_casts.double_of, "-inf", -math.inf),
        (text_casts.single_of, "0.1", 0.10000000149011612),
        # Rounded to 64 bits first, it would be half-way, and then go to the even one.
        (text_casts.single_of, "1.00000005960464477540", 1.0000001192092896),
        (text_casts.single_of, "1e39", math.inf),
        (text_casts.boolean_of, " Yes ", True),
        (text_casts.boolean_of, "f", False),
        (text_casts.days_of, "1970-1-2", 1),
        (text_casts.days_of, "1970", 0),
        (text_casts.days_of, " 1970-02 ", 31),
        (text_casts.days_of, "1969-12-31T anything", -1),
        (text_casts.micros_of, "1970-01-02", DAY_US),
        (text_casts.micros_of, "1970-1-1 0:0:1.5", 1_500_000),
        (text_casts.micros_of, "1970-01-01 00:00:00.1234569", 123_456),
        (text_casts.micros_of, "1970-01-01T02:00:00+02:00", 0),
        (text_casts.micros_of, "1970-01-01 00:00:00 UTC-1:00", 3_600_000_000),
        (text_casts.micros_of, "1970-01-01 00:00:00Z", 0),
        (text_casts.micros_of, "1970-01-01 00:00:00+5:3", -18_180_000_000),
        (text_casts.micros_of, "294247-01-10 04:00:54.775807Z", 2**63 - 1),
        (text_casts.micros_of, "1970-01-01 09:00:00 Asia/Tokyo", 0),
        (text_casts.micros_of, "2026-01-31 02:30:00PST", 1_769_855_400_000_000),
        (text_casts.micros_of, "1850-07-01 02:30:00 EST", -3_771_160_200_000_000),
        (text_casts.local_micros_of, "1970-01-02 00:00", DAY_US),
        (text_casts.local_micros_of, "1970-01-02 00:00:00 Asia/Tokyo", DAY_US),
        (text_casts.local_micros_of, "1970-01-02T00:00:00+02:00", DAY_US),
    ],
)
def test_a_text_is_a_value(read: Callable[[str], object], text: str, value: object):
    assert read(text) == value


def test_nan_has_one_spelling_in_any_case() -> None:
    assert math.isnan(text_casts.double_of(" nAn"))
    assert math.isnan(text_casts.single_of("NaN"))


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (text_casts.integer_of, "1.0"),
        (text_casts.integer_of, ""),
        (text_casts.integer_of, "\u0661"),  # a digit, but of no number of Java
        (text_casts.double_of, "1 2"),
        (text_casts.double_of, "infinities"),
        (text_casts.boolean_of, "on"),
        (text_casts.days_of, "2026-02-30"),
        (text_casts.days_of, "26-01-01"),
        (text_casts.days_of, "2026-001-01"),
        (text_casts.micros_of, "2026-01-01 24:00:00"),
        (text_casts.micros_of, "2026-01-01 00:00:00+19:00"),
        (text_casts.micros_of, "2026-01-01 00:00:00+18:30"),
        (text_casts.micros_of, "2026-01-01 00:00:00+01:99"),
        (text_casts.micros_of, "2026-01-01T"),
        (text_casts.micros_of, "294247-01-10 04:00:54.775808Z"),
        (text_casts.micros_of, "294247-01-10 04:00:54-18:00"),
        (text_casts.micros_of, "2026-01-01 00:00:00\u00a0"),
        (text_casts.micros_of, "2026-01-01 00:00:00 Mars"),
        (text_casts.micros_of, "12:00"),
        (text_casts.local_micros_of, "2026-01-01 00:00:00 Mars"),
    ],
)
def test_a_text_is_none(read: Callable[[str], object], text: str) -> None:
    assert not is_value(read, text)


@pytest.mark.parametrize(
    ("text", "value"),
    [(" 1.255 ", "1.26"), ("-1.255", "-1.26"), ("1e1", "10.00"), ("0", "0.00")],
)
def test_a_decimal_is_rounded_half_up(text: str, value: str) -> None:
    found = text_casts.decimal_of(text, pa.decimal128(4, 2))

    assert (found, str(found)) == (Decimal(value), value)


@pytest.mark.parametrize("text", ["100", "99.995", "1e999999", "NaN", "1e99"])
def test_a_decimal_of_more_digits_than_its_type_is_none(text: str) -> None:
    assert not is_value(partial(text_casts.decimal_of, kind=pa.decimal128(4, 2)), text)
