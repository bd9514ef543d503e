"""A recipient has reached its limit of the month."""

from dataclasses import dataclass
from typing import Final

from apps.notices.events.kind import EventKind, register
from deltaweb.words import bytes_text


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetReached:
    """A monthly limit that a recipient has reached.

    Attributes:
        month: Such as `2026-11`, in UTC.
        limit: `soft` or `hard`: after a hard one, further reads are refused.
        offered_bytes: The bytes that it was offered in the month when this was seen.
    """

    recipient: str
    month: str
    limit: str
    limit_bytes: int
    offered_bytes: int

    def sentence(self, subject: str) -> str:
        """Name the limit and what was offered."""
        offered, limit = bytes_text(self.offered_bytes), bytes_text(self.limit_bytes)
        return (
            f"{subject} was offered {offered} in {self.month}:"
            f" the {self.limit} limit is {limit}."
        )


BUDGET_REACHED: Final = register(
    EventKind(
        name="recipient.budget",
        words="Budget reached",
        help="Sent once a month when a recipient reaches its soft or its hard limit.",
        about="recipient",
        data=BudgetReached,
    )
)
