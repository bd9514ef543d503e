"""Pictures of use, and the same numbers as tables."""

import json
from datetime import date, timedelta

from apps.sharing.activity.charts import bytes_per_day, requests_per_day
from apps.sharing.activity.usage import DailyUse
from tests.support import cases


def new_day(number: int = 0, *, answered: int = 0, **counts: int) -> DailyUse:
    requests = answered + counts.get("num_refused", 0)
    day = date(2026, 11, 1) + timedelta(days=number)
    return DailyUse(day=day, num_requests=requests, **counts)


class TestRequestsPerDay:
    def test_the_table_has_the_newest_day_first_and_no_empty_one(self) -> None:
        chart = requests_per_day(
            [new_day(0, answered=2), new_day(1), new_day(2, num_refused=1)]
        )

        assert chart.header == ("Day (UTC)", "Answered", "Refused")
        assert chart.rows == [("3 Nov 2026", 0, 1), ("1 Nov 2026", 2, 0)]

    def test_other_events_are_drawn_only_where_there_are_some(self) -> None:
        without = requests_per_day([new_day(answered=1)])
        also = requests_per_day([new_day(num_others=1)])

        assert "changes" not in without.label
        assert "1 changes and activations" in also.label

    def test_the_figure_is_plain_json_without_a_template(self) -> None:
        figure = json.loads(json.dumps(requests_per_day([new_day(answered=1)]).figure))

        assert figure["layout"]["barmode"] == "stack"
        assert "template" not in figure["layout"]
        assert figure["data"][0]["marker"]["color"].startswith("var(--dw-")

    def test_few_requests_have_a_tick_each(self) -> None:
        assert (
            requests_per_day([new_day(answered=3)]).figure["layout"]["yaxis"]["dtick"]
            == 1
        )


class TestBytesPerDay:
    @cases(
        "size_bytes, expected",
        {
            "nothing": (0, ["0 B"]),
            "bytes": (3, ["0 B", "1 B", "2 B", "3 B"]),
            "nearly a gibibyte": (
                1000 << 20,
                ["0 B", "256 MiB", "512 MiB", "768 MiB", "1 GiB"],
            ),
        },
    )
    def test_its_axis_has_round_sizes_that_hold_the_highest_bar(
        self, size_bytes: int, expected: list[str]
    ) -> None:
        axis = bytes_per_day([new_day(size_bytes=size_bytes)]).figure["layout"]["yaxis"]

        assert list(axis["ticktext"]) == expected
        assert axis["range"][1] >= size_bytes


def test_a_single_day_is_a_sentence() -> None:
    days = [new_day(0), new_day(1, answered=2, size_bytes=2048)]

    assert requests_per_day(days).words == "2 answered, 0 refused, all on 2 Nov 2026."
    assert bytes_per_day(days).words == "2 KiB, all on 2 Nov 2026."
    assert requests_per_day([*days, new_day(2, answered=1)]).words == ""
