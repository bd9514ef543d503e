"""The payload of events about findings of Health."""

from dataclasses import dataclass
from typing import Final

OPEN: Final = "open"
CLOSED: Final = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingEvent:
    """A finding that was opened, or closed because it no longer holds.

    Attributes:
        rule: The name of the rule, such as `small-files`.
        severity: `act-now`, `costs` or `to-know`.
        state: `open` or `closed`.
        finding: What the rule found.
    """

    rule: str
    severity: str
    state: str
    finding: str

    def sentence(self, subject: str) -> str:
        """Say what was found, or that it no longer holds."""
        if self.state == OPEN:
            return f"{subject}: {self.finding}"
        return f"{subject}: this no longer holds. {self.finding}"
