"""A recipient has read a shared table for the first time."""

from dataclasses import dataclass
from typing import Final

from apps.notices.events.kind import EventKind, register


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRead:
    """The first read of a shared table by a recipient.

    Attributes:
        table: The table as the share names it, with its schema.
    """

    recipient: str
    share: str
    table: str
    version: int

    def sentence(self, subject: str) -> str:
        """Name the recipient and the table."""
        where = f"{self.share}/{self.table}"
        return f"{subject} read {where} for the first time, at version {self.version}."


FIRST_READ: Final = register(
    EventKind(
        name="recipient.first_read",
        words="First read",
        help="Sent when a recipient reads a shared table for the first time.",
        about="recipient",
        data=FirstRead,
    )
)
