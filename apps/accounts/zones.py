"""The time zone in which a user reads times."""

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User


def user_zone(user: User | AnonymousUser) -> tzinfo:
    """Return the user's zone; UTC where none is set or the name is not known here."""
    name = getattr(user, "time_zone", "") or "UTC"
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
