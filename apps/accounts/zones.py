"""The time zone in which a user reads times."""

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from deltaweb.delta.errors import TimeZoneUnknownError
from deltaweb.delta.values.time_zones.known import UTC_ZONE, check_zone


def user_zone(user: User | AnonymousUser) -> tzinfo:
    """Return the user's zone; UTC where none is set or the name is not known here."""
    try:
        return ZoneInfo(user_zone_name(user))
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def user_zone_name(user: User | AnonymousUser) -> str:
    """Return the name of the zone in which a user's times and SQL are read."""
    name = getattr(user, "time_zone", "") or UTC_ZONE
    try:
        return check_zone(name)
    except TimeZoneUnknownError:
        return UTC_ZONE
