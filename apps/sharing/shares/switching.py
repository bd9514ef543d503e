"""A share that is turned off, and until when URLs of before still work."""

from datetime import datetime, timedelta

from django.conf import settings

from deltaweb.web.sharing.models import Share
from deltaweb.web.tables.storage.locations import is_remote


def urls_end_at(share: Share) -> datetime | None:
    """Return when the last URL ends that was given out before a share was turned off.

    Of files that this server hands out none works from then on: each request asks for
    the grant. A URL of an object store is good until it ends by itself.

    Returns:
        The time; None where no URL works, or where the share is on.
    """
    if share.off_since is None:
        return None
    tables = share.shared_tables.select_related("table")
    places = [one.table.location for one in tables]
    if any(one.condition or one.columns for one in tables):
        places.append(settings.PREPARED_FILES)
    if not any(map(is_remote, places)):
        return None
    return share.off_since + timedelta(seconds=settings.FILE_URL_LIFETIME_S)


def urls_end_text(share: Share, *, now: datetime) -> str:
    """Return what is said of URLs given out before, for people."""
    ends_at = urls_end_at(share)
    if ends_at is None or ends_at <= now:
        return "No URL that was given out works any more."
    return f"URLs that were given out work until {ends_at:%Y-%m-%d %H:%M} UTC."
