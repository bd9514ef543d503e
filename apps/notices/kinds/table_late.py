"""A table has no new version within its limit."""

from dataclasses import dataclass
from typing import Final

from apps.notices.events.kind import EventKind, register
from deltaweb.words import duration_text


@dataclass(frozen=True, slots=True, kw_only=True)
class LateTable:
    """A table without a commit for longer than its namespace allows.

    Attributes:
        table: The name of the table, with its namespace.
        version: Its newest version.
        committed_at: The time of that version, in ISO 8601.
        limit_s: The threshold `late_minutes` of its namespace, in seconds.
    """

    table: str
    version: int
    committed_at: str
    limit_s: int

    def sentence(self, subject: str) -> str:
        """Name the limit."""
        limit = duration_text(self.limit_s)
        return f"{subject} is late: it has no new version for more than {limit}."


TABLE_LATE: Final = register(
    EventKind(
        name="table.late",
        words="Late table",
        help="Sent once for each version that is not followed by another one in time.",
        about="table",
        data=LateTable,
    )
)
