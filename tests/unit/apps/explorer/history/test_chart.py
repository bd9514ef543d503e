from datetime import date

from apps.explorer.history.chart import commits_per_day
from apps.explorer.history.operations import WRITE
from tests.support import cases


def test_a_day_is_a_row_of_the_table_only_with_commits() -> None:
    days = [date(2026, 11, 1), date(2026, 11, 2), date(2026, 11, 3)]

    chart = commits_per_day(days, {WRITE: (1, 0, 2)})

    assert [tuple(row) for row in chart.rows] == [("3 Nov 2026", 2), ("1 Nov 2026", 1)]


@cases(
    "counts, words",
    {
        "two days are drawn": ((1, 0, 2), ""),
        "none": ((0, 0, 0), "Nothing was committed on these days."),
        "one commit": ((0, 1, 0), "1 commit, on 2 Nov 2026."),
        "one day": ((0, 5, 0), "5 commits, all on 2 Nov 2026."),
    },
)
def test_a_single_day_is_a_sentence_and_not_drawn(counts, words):
    days = [date(2026, 11, day) for day in (1, 2, 3)]

    chart = commits_per_day(days, {WRITE: counts})

    assert chart.words == words
    assert bool(chart.figure) == (not words)
