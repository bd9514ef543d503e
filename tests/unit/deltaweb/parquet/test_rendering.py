"""Decimals of sizes that a footer may claim and no text can hold."""

import pytest

from deltaweb.parquet.annotations import Annotation, invalid_reason
from deltaweb.parquet.rendering import render
from tests.support import cases

MOST = 2**31 - 1


@pytest.mark.parametrize(
    ("length", "most"), [(1, 2), (4, 9), (8, 18), (12, 28), (16, 38), (2_000, 4_816)]
)
def test_a_fixed_length_holds_so_many_digits(length: int, most: int) -> None:
    reasons = [
        invalid_reason(
            Annotation("DECIMAL", precision=digits), "FIXED_LEN_BYTE_ARRAY", length
        )
        for digits in (most, most + 1)
    ]

    assert reasons[0] is None
    assert reasons[1] is not None
    assert f"at most {most}" in reasons[1]


def test_a_length_of_gigabytes_is_judged_at_once() -> None:
    decimal = Annotation("DECIMAL", precision=9)

    assert invalid_reason(decimal, "FIXED_LEN_BYTE_ARRAY", MOST) is None


@cases(
    "raw, scale",
    {
        "a scale of gigabytes": (b"\x01", MOST),
        "more digits than Python writes": (b"\x01" * 2_000, 0),
    },
)
def test_a_decimal_whose_text_has_no_bounds_is_shown_as_bytes(raw: bytes, scale: int):
    decimal = Annotation("DECIMAL", precision=MOST, scale=scale)

    assert render(raw, decimal, "BYTE_ARRAY") == {"hex": raw.hex()}
