"""A finding of Health about a table was opened or closed."""

from typing import Final

from apps.notices.events.finding import FindingEvent
from apps.notices.events.kind import EventKind, register

TABLE_HEALTH: Final = register(
    EventKind(
        name="table.health",
        words="Health finding",
        help=(
            "Sent when a finding of Health about a table is opened or closed."
            " The first check of a table sends none."
        ),
        about="table",
        data=FindingEvent,
    )
)
