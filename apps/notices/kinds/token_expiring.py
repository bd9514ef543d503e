"""The last token of a recipient expires soon."""

from typing import Final

from apps.notices.events.finding import FindingEvent
from apps.notices.events.kind import EventKind, register

TOKEN_EXPIRING: Final = register(
    EventKind(
        name="token.expiring",
        words="Token expires",
        help=(
            "Sent when the last token of a recipient expires soon or has expired, and"
            " when this no longer holds."
        ),
        about="recipient",
        data=FindingEvent,
    )
)
