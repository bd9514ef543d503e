from datetime import date

import pytest

from apps.pages.lists.days import day_text, parse_day
from tests.support import cases


@cases(
    "text",
    {
        "ISO": "2026-11-05",
        "as pages write it": "5 Nov 2026",
        "the whole month": " 05 november 2026 ",
        "with dots": "5. NOV. 2026",
    },
)
def test_a_day_is_read_as_people_type_it(text: str) -> None:
    assert parse_day(text) == date(2026, 11, 5)


@pytest.mark.parametrize("text", ["11/05/2026", "31 Nov 2026", "5 Nox 2026", "", "x"])
def test_what_could_be_two_days_or_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a day"):
        parse_day(text)


def test_what_is_written_can_be_read_again() -> None:
    days = [date(2026, month, 28) for month in range(1, 13)]

    assert [parse_day(day_text(day)) for day in days] == days
