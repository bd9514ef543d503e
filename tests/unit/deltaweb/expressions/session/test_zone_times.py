"""The zone of a session, and the times that people say in it."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from deltaweb.delta.errors import TimestampInvalidError
from deltaweb.expressions.session.zone_times import clocks_as, moment_of, zone_of


def test_what_is_no_zone_is_none() -> None:
    assert zone_of("Mars/Olympus") is None
    assert zone_of(None) is None


@pytest.mark.parametrize("name", ["America/New_York", "+05:30", "GMT-3", "+0530", "Z"])
def test_what_spark_calls_a_zone_is_one(name: str) -> None:
    zone = zone_of(name)

    assert zone is not None
    assert zone.name == name


@pytest.mark.parametrize(
    ("said", "zone", "hour"),
    [
        ("2024-03-10 12:00:00", "Asia/Kolkata", 6),
        ("2024-03-10T12:00:00Z", "Asia/Kolkata", 12),
        ("2024-03-10T12:00:00Z", None, 12),
        pytest.param("2060-07-01 12:00:00", "America/New_York", 16, id="in summers"),
        pytest.param("2024-03-10 02:30:00", "America/New_York", 7, id="left out"),
    ],
)
def test_a_time_that_is_said_without_a_zone_has_the_one_that_is_given(said, zone, hour):
    moment = moment_of(said, zone)

    assert isinstance(moment, datetime)
    assert moment.astimezone(UTC).hour == hour


@pytest.mark.parametrize(
    ("said", "zone"),
    [("yesterday", "UTC"), ("2024-03-10", None), ("2024-03-10", "Mars/Olympus")],
)
def test_a_text_of_no_zone_that_is_known_is_refused(said: str, zone: str | None):
    with pytest.raises(TimestampInvalidError):
        moment_of(said, zone)


@pytest.mark.parametrize("said", [None, datetime(2024, 3, 10, tzinfo=UTC)])
def test_what_is_no_text_stays_as_it_is(said: datetime | None) -> None:
    assert moment_of(said, "Asia/Kolkata") == said


def test_a_clock_shows_a_day_before_the_epoch_too() -> None:
    late = pa.array([datetime(1969, 12, 30, 23, 59), None], pa.timestamp("us"))  # noqa: DTZ001  # of a clock

    assert clocks_as(late, pa.date32()).cast(pa.int32()).to_pylist() == [-2, None]
