"""A recipient sees no row of a shared table, or sees rows again."""

from typing import Final

from apps.notices.events.finding import FindingEvent
from apps.notices.events.kind import EventKind, register

RECIPIENT_NO_ROWS: Final = register(
    EventKind(
        name="recipient.no_rows",
        words="Recipient sees no row",
        help="Sent when a rule shows no row of a table, and when it shows rows again.",
        about="recipient",
        data=FindingEvent,
    )
)
