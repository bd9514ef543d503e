from datetime import date, timedelta

import pytest

from apps.sharing.issuing.rotation_chart import BASE_PX, requests_chart
from tests.support import cases

DAYS = [date(2026, 11, 8) + timedelta(days=n) for n in range(14)]


def test_stacks_the_old_token_on_the_new_one() -> None:
    chart = requests_chart(DAYS, [30] * 14, [10] * 14)

    bar = chart.bars[0]
    assert float(bar.new_y) + float(bar.new_height) == pytest.approx(BASE_PX, abs=0.2)
    assert float(bar.old_y) + float(bar.old_height) < float(bar.new_y)
    assert float(bar.new_height) > 2.5 * float(bar.old_height)
    assert bar.title == "8 Nov: 30 with the new token, 10 with the old"


@cases(
    "highest, labels",
    {
        "no calls": (0, ["0", "1", "2"]),
        "one call": (1, ["0", "1", "2"]),
        "a few": (3, ["0", "2", "4"]),
        "hundreds": (310, ["0", "200", "400"]),
        "thousands": (1_999, ["0", "1,000", "2,000"]),
    },
)
def test_has_a_scale_of_round_numbers(highest: int, labels: list[str]) -> None:
    chart = requests_chart(DAYS, [highest] + [0] * 13, [0] * 14)

    assert [tick.label for tick in chart.ticks] == labels
    assert all(0 <= float(bar.old_y) <= BASE_PX for bar in chart.bars)


def test_names_the_first_middle_and_last_day() -> None:
    chart = requests_chart(DAYS, [1] * 14, [1] * 14)

    labels = [bar.label for bar in chart.bars if bar.label]
    assert labels == ["8 Nov", "14 Nov", "today"]


def test_says_of_each_day_how_many_there_were() -> None:
    chart = requests_chart(DAYS, [0] + [1] * 13, [0] + [2] * 13)

    assert (chart.bars[0].new_height, chart.bars[0].old_height) == ("0.0", "0.0")
    assert chart.bars[1].title == "9 Nov: 1 with the new token, 2 with the old"
