"""Recipients cannot read a shared table, or can again."""

from typing import Final

from apps.notices.events.finding import FindingEvent
from apps.notices.events.kind import EventKind, register

SHARE_BROKEN: Final = register(
    EventKind(
        name="share.broken",
        words="Broken share",
        help="Sent when recipients cannot read a shared table, or can read it again.",
        about="share",
        data=FindingEvent,
    )
)
