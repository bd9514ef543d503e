from datetime import date

from apps.explorer.history.chart import commits_per_day
from apps.explorer.history.operations import WRITE


def test_a_day_is_a_row_of_the_table_only_with_commits() -> None:
    days = [date(2026, 11, 1), date(2026, 11, 2), date(2026, 11, 3)]

    chart = commits_per_day(days, {WRITE: (1, 0, 2)})

    assert [tuple(row) for row in chart.rows] == [("3 Nov 2026", 2), ("1 Nov 2026", 1)]
