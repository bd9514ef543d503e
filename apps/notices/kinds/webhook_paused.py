"""A webhook was paused, because its receiver does not take events."""

from dataclasses import dataclass
from typing import Final

from apps.notices.events.kind import EventKind, register
from deltaweb.words import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class PausedWebhook:
    """A webhook to which nothing is sent until it is resumed.

    Attributes:
        webhook: The id of the webhook.
        host: The host of its address.
        reason: The reason, such as `after 24 h of failures`.
        num_waiting: The number of events that waited at that moment.
    """

    webhook: str
    host: str
    reason: str
    num_waiting: int

    def sentence(self, subject: str) -> str:
        """Name the host and the reason."""
        waiting = counted(self.num_waiting, "event")
        verb = "waits" if self.num_waiting == 1 else "wait"
        return (
            f"The webhook to {subject} was paused {self.reason}: {waiting} {verb}"
            " until you resume it."
        )


WEBHOOK_PAUSED: Final = register(
    EventKind(
        name="webhook.paused",
        words="Webhook paused",
        help="Sent to the owner of a webhook when nothing more is sent to it.",
        about="webhook",
        data=PausedWebhook,
    )
)
