"""The rules of zones are those of the database of zones, in all years."""

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

from deltaweb.delta.values.time_zones.errors import TimeZoneUnknownError
from deltaweb.delta.values.time_zones.known import zone_rules
from deltaweb.delta.values.time_zones.rules import to_clocks, to_instants
from tests.support import cases

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
ZONES = (
    *("America/New_York", "Asia/Kolkata", "Europe/Dublin", "Australia/Lord_Howe"),
    *("Africa/Casablanca", "America/Sao_Paulo", "Pacific/Apia", "Asia/Gaza"),
    *("America/Nuuk", "Asia/Tehran", "Etc/GMT+5", "UTC"),
)


def micros(moment: datetime) -> int:
    return (moment - EPOCH) // MICROSECOND


def at(text: str) -> int:
    return micros(datetime.fromisoformat(text).replace(tzinfo=UTC))


def text_of(time_us: int) -> str:
    return str(np.datetime64(time_us, "us").astype("datetime64[s]")).replace("T", " ")


@pytest.mark.parametrize("name", ZONES)
def test_clocks_and_instants_are_those_of_python(name: str) -> None:
    rules, zone, draw = zone_rules(name), ZoneInfo(name), random.Random(name)
    near = [int(one) + step for one in rules.changes_us[:300] for step in (-1, 0)]
    far = [draw.randrange(at("0002-01-01"), at("9998-01-01")) for _ in range(300)]
    times = [time for time in (*near, *far) if time > at("0002-01-01")]

    clocks = rules.clocks(np.array(times, np.int64))
    instants = rules.instants(np.array(times, np.int64))

    for time, clock, instant in zip(times, clocks, instants, strict=True):
        moment = EPOCH + time * MICROSECOND
        assert clock == micros(moment.astimezone(zone).replace(tzinfo=UTC))
        assert instant == micros(moment.replace(tzinfo=zone).astimezone(UTC))


@cases(
    "zone, clock, instant",
    {
        "a gap": ("America/New_York", "2024-03-10 02:30:00", "2024-03-10 07:30:00"),
        "the first of two": (
            "America/New_York",
            "2024-11-03 01:30:00",
            "2024-11-03 05:30:00",
        ),
        "LMT": ("America/New_York", "1850-07-01 00:00:00", "1850-07-01 04:56:02"),
        "a summer to come": (
            "America/New_York",
            "2050-07-04 12:00:00",
            "2050-07-04 16:00:00",
        ),
        "a far one": (
            "America/New_York",
            "12345-07-04 12:00:00",
            "12345-07-04 16:00:00",
        ),
        "no summer": ("Asia/Kolkata", "2024-03-10 02:30:00", "2024-03-09 21:00:00"),
        "an offset": ("+05:30", "2024-03-10 02:30:00", "2024-03-09 21:00:00"),
        "UTC-3": ("UTC-3", "2024-03-10 00:00:00", "2024-03-10 03:00:00"),
        "+0530": ("+0530", "2024-03-10 12:00:00", "2024-03-10 06:30:00"),
    },
)
def test_what_a_clock_shows_is_an_instant(zone: str, clock: str, instant: str) -> None:
    there = np.array([np.datetime64(clock.replace(" ", "T"), "us")]).astype(np.int64)

    [found] = zone_rules(zone).instants(there)

    assert text_of(int(found)) == instant


@pytest.mark.parametrize(
    ("zone", "day", "begins"),
    [
        ("America/Sao_Paulo", "2018-11-04", "2018-11-04 03:00:00"),
        ("America/Toronto", "1919-03-31", "1919-03-31 04:30:00"),
        ("Pacific/Apia", "2011-12-30", "2011-12-30 10:00:00"),
        ("America/New_York", "2024-03-10", "2024-03-10 05:00:00"),
    ],
)
def test_a_day_begins_after_what_is_left_out_of_it(zone: str, day: str, begins: str):
    days = pa.array([None, datetime.fromisoformat(day).date()])

    found = to_instants(days, zone_rules(zone))

    assert found.cast(pa.int64()).to_pylist() == [None, at(begins)]
    assert found.type == pa.timestamp("us", "UTC")


def test_small_letters_lead_to_the_name() -> None:
    with pytest.raises(TimeZoneUnknownError, match="Did you mean America/New_York or"):
        zone_rules("america/new_york")


def test_nulls_stay_null_and_what_is_beyond_every_clock_is_an_error() -> None:
    rules = zone_rules("Asia/Kolkata")
    none = pa.array([None], pa.timestamp("us", "UTC"))
    last = pa.array([2**63 - 1]).cast(pa.timestamp("us", "UTC"))

    assert to_clocks(none, rules).to_pylist() == [None]
    with pytest.raises(OverflowError):
        to_clocks(last, rules)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("New York", ("America/New_York",)),
        ("Europe/Berlyn", ("Europe/Berlin", "Europe/Jersey", "Europe/Dublin")),
        ("+25:00", ()),
        ("+530", ()),
        ("+0530:00", ()),
        ("../../etc/passwd", ()),
    ],
)
def test_a_zone_that_is_not_known_is_refused_with_what_may_be_meant(name, nearest):
    with pytest.raises(TimeZoneUnknownError) as refused:
        zone_rules(name)

    assert refused.value.nearest == nearest
    assert repr(name) in refused.value.message
    assert all(zone in refused.value.hint for zone in nearest)
