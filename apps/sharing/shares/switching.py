"""A share that is turned off, and until when URLs of before still work."""

from datetime import datetime

from apps.sharing.access.earlier_urls import later_end, longest_lifetime
from apps.sharing.models import Share


def urls_end_at(share: Share) -> datetime | None:
    """Return when the last URL ends that was given out before a share was turned off.

    Of files that this server hands out none works from then on: each request asks for
    the grant. A URL of an object store is good until it ends by itself.

    Returns:
        The time; None where no URL works, or where the share is on.
    """
    if share.off_since is None:
        return None
    ends = [recipient.earlier_urls_end_at for recipient in share.recipients.all()]
    for shared in share.shared_tables.select_related("table"):
        known, lifetime = shared.earlier_urls_end_at, longest_lifetime(shared)
        ends.append(later_end(known, [lifetime], at=share.off_since))
    return max((one for one in ends if one is not None), default=None)


def urls_end_text(share: Share, *, now: datetime) -> str:
    """Return what is said of URLs given out before, for people."""
    ends_at = urls_end_at(share)
    if ends_at is None or ends_at <= now:
        return "No file URL works any more."
    return f"File URLs that were issued before work until {ends_at:%Y-%m-%d %H:%M} UTC."
