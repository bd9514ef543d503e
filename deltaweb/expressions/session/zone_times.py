"""The zone of a session, as far as it is known here, and what times are in it."""

from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.log.commits.times import parse_timestamp
from deltaweb.delta.values.time_zones.errors import TimeZoneUnknownError
from deltaweb.delta.values.time_zones.known import zone_rules
from deltaweb.delta.values.time_zones.rules import ZoneRules


def zone_of(name: str | None) -> ZoneRules | None:
    """Return the zone that a session calls so; None for one that is not known here."""
    try:
        return zone_rules(name) if name else None
    except TimeZoneUnknownError:
        return None


def moment_of(
    said: datetime | str | None, time_zone: str | None
) -> datetime | str | None:
    """Return a time that somebody has said, a text as a time with a zone.

    Args:
        time_zone: Where a text without a zone is from; None where that is not known.
    """
    if not isinstance(said, str):
        return said
    zone = zone_of(time_zone)
    return parse_timestamp(said, time_zone=None if zone is None else zone.name)


def clocks_as(clocks: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return what clocks show, or days, as the one or the other."""
    if pa.types.is_date32(kind):
        return pc.floor_temporal(clocks, unit="day").cast(kind)
    return clocks.cast(kind)
