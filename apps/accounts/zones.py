"""The time zone in which a user reads times."""

from datetime import UTC, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from django.contrib.auth.models import AnonymousUser

from apps.accounts.errors import UserInvalidError
from apps.accounts.models import User
from deltaweb.delta.values import time_zones
from deltaweb.delta.values.time_zones.errors import TimeZoneUnknownError


def user_zone(user: User | AnonymousUser) -> tzinfo:
    """Return the user's zone; UTC where none is set or the name is not known here."""
    try:
        return ZoneInfo(user_zone_name(user))
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def user_zone_name(user: User | AnonymousUser) -> str:
    """Return the name of the zone in which a user's times and SQL are read."""
    # Commands that know users alone start without Arrow.
    known = time_zones.known
    name = getattr(user, "time_zone", "") or known.UTC_ZONE
    try:
        return known.check_zone(name)
    except TimeZoneUnknownError:
        return known.UTC_ZONE


@cache
def pages_zones() -> list[str]:
    """Return the names of the IANA database; reading its folders takes a while."""
    return sorted(available_timezones())


def check_pages_zone(name: str) -> str:
    """Return the name of a zone in which pages can show times: none of an offset."""
    if name in pages_zones():
        return name
    nearest = " or ".join(time_zones.known.nearest_zones(name))
    meant = f"Did you mean {nearest}? " if nearest else ""
    reason = f"{name[:80]!r} is not a time zone. {meant}Give one such as Europe/Berlin."
    raise UserInvalidError(reason=reason)
