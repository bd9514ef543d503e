"""A request of access was approved, rejected or withdrawn."""

from dataclasses import dataclass
from typing import Final

from apps.notices.events.kind import EventKind, register

DAY: Final = len("2030-12-31")
_DID: Final = {
    "approved": "approved",
    "shortened": "approved, for a shorter time,",
    "rejected": "rejected",
    "withdrawn": "withdrew",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedRequest:
    """A request of access that does not wait any more.

    Attributes:
        request: The number of the request.
        on: The name of the table, of the namespace such as `sales.*`, or of the share
            such as `share:retail`.
        right: `view`, `edit` or `share`.
        state: `approved`, `shortened`, `rejected` or `withdrawn`.
        answer: The reason of a rejection; "" without one.
        until: The end of the right, in ISO 8601; null for none.
    """

    request: int
    on: str
    right: str
    requested_by: str
    state: str
    decided_by: str
    answer: str
    until: str | None

    def sentence(self, subject: str) -> str:
        """Name the decision, and its reason."""
        del subject
        did = _DID.get(self.state, self.state)
        why = f": {self.answer}" if self.answer else "."
        until = f" until {self.until[:DAY]}" if self.until else ""
        return (
            f"{self.decided_by} {did} the request of {self.requested_by}"
            f" to {self.right} {self.on}{until}{why}"
        )


ACCESS_DECIDED: Final = register(
    EventKind(
        name="access.decided",
        words="Access decided",
        help="Sent when a request of access is approved, rejected or withdrawn.",
        about="request",
        data=DecidedRequest,
    )
)
