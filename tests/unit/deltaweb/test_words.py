from deltaweb.words import (
    bytes_text,
    count_text,
    counted,
    duration_text,
    length_text,
    size_text,
)
from tests.support import cases


class TestSizeText:
    @cases(
        "size_bytes, text",
        {
            "nothing": (0, "0 B"),
            "bytes": (1023, "1,023 B"),
            "four digits of a unit": (1000 << 10, "1,000 KiB"),
            "a fraction": (1536, "1.5 KiB"),
            "three digits need none": (150 << 20, "150 MiB"),
            "less than nothing": (-1536, "-1.5 KiB"),
            "beyond the last unit": (1 << 70, "1,024 EiB"),
        },
    )
    def test_uses_binary_units(self, size_bytes: int, text: str) -> None:
        assert size_text(size_bytes) == text


@cases(
    "size_bytes, text",
    {
        "no zeros behind the point": (64 << 10, "64 KiB"),
        "four digits": (1_234_567, "1.177 MiB"),
        "a thousand": (1000, "1,000 B"),
        "beyond the last unit": (1 << 70, "1,024 EiB"),
    },
)
def test_an_axis_has_digits_that_say_something(size_bytes: int, text: str) -> None:
    assert bytes_text(size_bytes) == text


@cases(
    "size_bytes, text",
    {"three": (1_234_567, "1.18 MiB"), "four": (1023 << 20, "1,023 MiB")},
)
def test_fewer_digits_never_bring_an_exponent(size_bytes: int, text: str) -> None:
    assert bytes_text(size_bytes, digits=3) == text


@cases(
    "seconds, text",
    {
        "the largest unit that divides it": (7 * 86_400, "7 days"),
        "one of a unit": (3_600, "1 hour"),
        "not by hours": (5_400, "90 minutes"),
        "by nothing larger": (61, "61 seconds"),
    },
)
def test_a_length_of_time_is_said_whole(seconds: int, text: str) -> None:
    assert length_text(seconds) == text


def test_one_is_no_plural() -> None:
    assert [counted(count, "file") for count in (0, 1, 1284)] == [
        "0 files",
        "1 file",
        "1,284 files",
    ]


def test_an_axis_of_counts_has_units_from_ten_thousand_on() -> None:
    assert [count_text(count) for count in (9_999, 10_000, 2 * 10**9)] == [
        "9,999",
        "10 k",
        "2 bn",
    ]
    assert count_text(1_234_567, digits=3) == "1.23 M"
    assert count_text(999_999, digits=3) == "1,000 k"


def test_what_took_hours_is_said_in_hours() -> None:
    assert duration_text(3_900) == "1 h 5 min"
