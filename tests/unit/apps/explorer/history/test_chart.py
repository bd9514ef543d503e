from datetime import date

import pytest

from deltaweb.web.explorer.history.chart import commits_per_day
from deltaweb.web.explorer.history.operations import WRITE


def test_a_day_is_a_row_of_the_table_only_with_commits() -> None:
    days = [date(2026, 11, 1), date(2026, 11, 2), date(2026, 11, 3)]

    chart = commits_per_day(days, {WRITE: (1, 0, 2)})

    assert [tuple(row) for row in chart.rows] == [("3 Nov 2026", 2), ("1 Nov 2026", 1)]


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        pytest.param((1, 0, 2), "", id="two days are drawn"),
        pytest.param((0, 0, 0), "Nothing was committed on these days.", id="none"),
        pytest.param((0, 1, 0), "1 commit, on 2 Nov 2026.", id="one commit"),
        pytest.param((0, 5, 0), "5 commits, all on 2 Nov 2026.", id="one day"),
    ],
)
def test_a_single_day_is_a_sentence_and_not_drawn(counts, words):
    days = [date(2026, 11, day) for day in (1, 2, 3)]

    chart = commits_per_day(days, {WRITE: counts})

    assert chart.words == words
    assert bool(chart.figure) == (not words)
