"""Times of a session's zone as instants, and instants as times of its clock.

A time that a clock skips in spring is as long after the jump as it says it is after its
begin; of one that a clock has twice the first is meant: so has Spark it.

Source: `java.time.LocalDateTime.atZone`.
"""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pyarrow as pa
import pyarrow.compute as pc

_OFFSET: Final = re.compile(
    r"(?:UTC|GMT|UT)?([+-])([0-9]{1,2})(?::?([0-9]{2}))?(?::?([0-9]{2}))?"
)
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001  # of a clock
_MICROSECOND: Final = timedelta(microseconds=1)
LOCAL: Final = pa.timestamp("us")


def zone_of(name: str) -> tzinfo | None:
    """Return the zone that a session calls so; None for one that is not known here."""
    if name == "Z":
        return UTC
    if found := _OFFSET.fullmatch(name):
        sign, *parts = found.groups()
        hours, minutes, seconds = (int(part or 0) for part in parts)
        offset = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        return timezone(-offset if sign == "-" else offset)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def moment_of(
    said: datetime | str | None, time_zone: str | None
) -> datetime | str | None:
    """Return a time that somebody has said, with a zone where it can have one.

    Args:
        said: The time; a text of ISO 8601, or a datetime.
        time_zone: Where a text without a zone is from; None where that is not known.
    """
    zone = None if time_zone is None else zone_of(time_zone)
    if not isinstance(said, str) or zone is None:
        return said
    try:
        moment = datetime.fromisoformat(said.strip())
    except ValueError:
        return said
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)


def instant_micros(local_micros: int, zone: tzinfo) -> int:
    """Return the instant of a time of a clock.

    Args:
        local_micros: What the clock shows, in microseconds since 1970 as it shows it.
        zone: The clock's.

    Returns:
        Microseconds since 1970-01-01T00:00:00Z.

    Raises:
        OverflowError: If the year has not four digits.
    """
    clock = _EPOCH + local_micros * _MICROSECOND
    # Of a time that there is twice the first is meant, by the fold that is 0; of one
    # that there is not the offset before the jump counts, which moves it on by the gap.
    offset = clock.replace(tzinfo=zone).utcoffset() or timedelta()
    return local_micros - offset // _MICROSECOND


def as_instants(clocks: pa.Array, zone: tzinfo, kind: pa.DataType) -> pa.Array:
    """Return times of a clock, or days, as instants of a type.

    Raises:
        OverflowError: If a year has not four digits.
    """
    coded = clocks.cast(LOCAL).cast(pa.int64()).dictionary_encode()
    known = [instant_micros(micros, zone) for micros in coded.dictionary.to_pylist()]
    return pa.array(known, pa.int64()).take(coded.indices).cast(kind)


def as_clocks(instants: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return instants as a clock of their zone shows them, or as its days."""
    clocks = pc.local_timestamp(instants)
    if pa.types.is_date32(kind):
        return pc.floor_temporal(clocks, unit="day").cast(kind)
    return clocks.cast(kind)
