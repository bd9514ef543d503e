"""A user has requested access to a table, a namespace or a share."""

from dataclasses import dataclass
from typing import Final

from apps.notices.events.kind import EventKind, register


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAccessRequest:
    """A new request of access.

    Attributes:
        request: The number of the request.
        on: The name of the table, of the namespace such as `sales.*`, or of the share
            such as `share:retail`.
        right: `view`, `edit` or `share`.
        group: The group that the right is for; "" if it is for the requester.
        wanted: How long it is wanted, in words.
    """

    request: int
    on: str
    right: str
    requested_by: str
    group: str
    purpose: str
    wanted: str

    def sentence(self, subject: str) -> str:
        """Name the person, the right and the table."""
        del subject
        whose = f" for {self.group}" if self.group else ""
        return (
            f"{self.requested_by} requests {self.right} of {self.on}{whose}"
            f" {self.wanted}: {self.purpose}"
        )


ACCESS_REQUESTED: Final = register(
    EventKind(
        name="access.requested",
        words="Access requested",
        help="Sent when a user requests access, to people who can decide about it.",
        about="request",
        data=NewAccessRequest,
    )
)
