"""Times of a clock are the instants that Java makes of them, and the other way."""

from datetime import UTC, date, datetime, timedelta

import pyarrow as pa
import pytest

from deltaweb.expressions.session.zone_times import (
    as_clocks,
    as_instants,
    moment_of,
    zone_of,
)

INSTANT, CLOCK = pa.timestamp("us", "UTC"), pa.timestamp("us")


def moments(*texts: str | None) -> list[datetime | None]:
    return [None if text is None else datetime.fromisoformat(text) for text in texts]


@pytest.mark.parametrize(
    ("zone", "clock", "instant"),
    [
        pytest.param(
            "America/New_York", "2024-03-10 02:30", "2024-03-10 07:30", id="skipped"
        ),
        pytest.param(
            "America/New_York", "2024-11-03 01:30", "2024-11-03 05:30", id="twice"
        ),
        pytest.param(
            "America/New_York", "1800-01-01", "1800-01-01 04:56:02", id="of the sun"
        ),
        pytest.param("Asia/Kolkata", "2024-03-10", "2024-03-09 18:30", id="half hours"),
        pytest.param("+02:00", "2024-03-10", "2024-03-09 22:00", id="an offset"),
        pytest.param("GMT-3", "2024-03-10", "2024-03-10 03:00", id="from Greenwich"),
        pytest.param("Z", "2024-03-10", "2024-03-10", id="none"),
    ],
)
def test_a_time_of_a_clock_is_an_instant(zone: str, clock: str, instant: str) -> None:
    known = zone_of(zone)
    assert known is not None
    clocks = pa.array(moments(clock, None), CLOCK)

    found = as_instants(clocks, known, INSTANT)

    assert found.equals(pa.array(moments(instant, None), CLOCK).cast(INSTANT))


def test_a_day_begins_at_midnight_and_an_instant_is_on_one() -> None:
    zone = zone_of("America/New_York")
    assert zone is not None
    day = pa.array([date(2024, 3, 10), None])

    begins = as_instants(day, zone, INSTANT)

    assert begins.to_pylist() == [datetime(2024, 3, 10, 5, tzinfo=UTC), None]
    theirs = begins.cast(pa.timestamp("us", "America/New_York"))
    assert as_clocks(theirs, pa.date32()).equals(day)
    assert as_clocks(theirs, CLOCK).to_pylist() == moments("2024-03-10", None)


def test_what_is_no_zone_is_none() -> None:
    assert zone_of("Mars/Olympus") is None
    assert zone_of("") is None


@pytest.mark.parametrize(
    ("said", "zone", "offset"),
    [
        ("2024-03-10 12:00:00", "Asia/Kolkata", timedelta(hours=5.5)),
        ("2024-03-10T12:00:00Z", "Asia/Kolkata", timedelta()),
    ],
)
def test_a_time_that_is_said_without_a_zone_has_the_one_that_is_given(
    said: str, zone: str, offset: timedelta
) -> None:
    moment = moment_of(said, zone)

    assert isinstance(moment, datetime)
    assert (moment.hour, moment.utcoffset()) == (12, offset)


@pytest.mark.parametrize(
    ("said", "zone"), [("yesterday", "UTC"), ("2024-03-10", None), (None, "UTC")]
)
def test_what_can_have_none_stays_as_it_is(said: str | None, zone: str | None) -> None:
    assert moment_of(said, zone) == said
