from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from apps.pages.lists.round_times import round_times
from tests.support import cases

EARLIEST = datetime(1900, 1, 1)  # noqa: DTZ001 (hypothesis adds none)
LATEST = datetime(2200, 1, 1)  # noqa: DTZ001 (as above)


@cases(
    "first, last, expected",
    {
        "within an hour": (
            "2026-11-28 02:03",
            "2026-11-28 02:48",
            "02:10 02:20 02:30 02:40",
        ),
        "within a day": ("2026-11-28 02:48", "2026-11-28 09:10", "04:00 06:00 08:00"),
        "over midnight": (
            "2026-11-27 22:10",
            "2026-11-28 02:10",
            "23:00 00:00 01:00 02:00",
        ),
    },
)
def test_times_of_a_day_are_round(first: str, last: str, expected: str) -> None:
    times = [datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (first, last)]

    found = round_times(*times, most=5)

    assert " ".join(f"{time:%H:%M}" for time in found) == expected


@cases(
    "first, last, expected",
    {
        "days": (
            "2026-11-08 07:30",
            "2026-11-11 20:00",
            "2026-11-09 2026-11-10 2026-11-11",
        ),
        "Mondays": (
            "2026-11-01",
            "2026-11-28",
            "2026-11-02 2026-11-09 2026-11-16 2026-11-23",
        ),
        "months": (
            "2026-01-15",
            "2026-06-20",
            "2026-02-01 2026-03-01 2026-04-01 2026-05-01 2026-06-01",
        ),
        "years": ("1999-05-05", "2026-06-20", "2000-01-01 2010-01-01 2020-01-01"),
    },
)
def test_days_are_beginnings(first: str, last: str, expected: str) -> None:
    zone = ZoneInfo("Europe/Berlin")
    times = [
        datetime.fromisoformat(text).replace(tzinfo=zone) for text in (first, last)
    ]

    found = round_times(*times, most=5)

    assert " ".join(f"{time:%Y-%m-%d}" for time in found) == expected
    assert {f"{time:%H:%M}" for time in found} == {"00:00"}


@given(
    first=st.datetimes(min_value=EARLIEST, max_value=LATEST),
    span=st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=80_000)),
    most=st.integers(1, 12),
)
def test_they_lie_between_the_two_and_are_few(first, span, most) -> None:
    last = first + span

    found = round_times(first, last, most=most)

    assert len(found) <= most
    assert all(first <= time <= last for time in found)
    assert found == sorted(set(found))
