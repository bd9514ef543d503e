"""The URLs of object stores that were issued before the terms of a share changed.

This server compares the terms whenever it serves a file. A store does not, so such a
URL opens its file until it ends by itself.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings

from apps.sharing.models import SharedTable
from apps.tables.storage.locations import is_remote


def is_part(shared: SharedTable, *, is_whole: bool) -> bool:
    """Return whether URLs are of a part of a table; they work for a shorter time.

    Args:
        is_whole: Whether the recipient sees every row and column.
    """
    return not is_whole or shared.has_start


def url_lifetime(shared: SharedTable, *, is_whole: bool) -> timedelta | None:
    """Return how long the URLs of a table work that are issued on its terms of now.

    Args:
        is_whole: Whether the recipient sees every row and column.

    Returns:
        None if this server serves all of the files.
    """
    places = [shared.table.location]
    plain = shared.share.recipients.filter(plain=True)
    if not is_whole or shared.is_plain or plain.exists():
        places.append(settings.PREPARED_FILES)
    if not any(map(is_remote, places)):
        return None
    lifetime_s = settings.FILE_URL_LIFETIME_S
    if is_part(shared, is_whole=is_whole):
        lifetime_s = min(lifetime_s, settings.PART_URL_LIFETIME_S)
    return timedelta(seconds=lifetime_s)


def longest_lifetime(shared: SharedTable) -> timedelta | None:
    """Return the same for the recipients whose URLs work the longest."""
    lifetimes = [url_lifetime(shared, is_whole=shared.is_whole)]
    if shared.is_whole and shared.rules.exists():  # of single recipients
        lifetimes.append(url_lifetime(shared, is_whole=False))
    return max((one for one in lifetimes if one is not None), default=None)


def later_end(
    known: datetime | None, lifetimes: Iterable[timedelta | None], *, at: datetime
) -> datetime | None:
    """Return when the last URL ends that was issued before terms changed.

    Args:
        known: The same of the changes before; some of those URLs may end later.
        lifetimes: How long URLs work that were issued before this change.
        at: When the terms change.
    """
    ends = [at + lifetime for lifetime in lifetimes if lifetime is not None]
    return max([*ends, known] if known is not None else ends, default=None)


def earlier_urls_text(ends_at: datetime | None, *, now: datetime) -> str:
    """Return a sentence about the URLs that were issued on earlier terms."""
    if ends_at is None or ends_at <= now:
        return "File URLs that were issued before no longer work."
    return (
        "File URLs of an object store that were issued before work until"
        f" {ends_at:%Y-%m-%d %H:%M} UTC."
    )
