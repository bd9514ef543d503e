"""Mails about an account, which an app above sends by a job.

A job keeps its parameters, so they hold no secret: the worker makes the link of a mail
when it sends it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from apps.pages.registry import Registry

CONFIRM: Final = "confirm"
SIGN_IN: Final = "sign-in"


@dataclass(frozen=True, slots=True, kw_only=True)
class MailAsked:
    """A mail to a user.

    Attributes:
        user_id: The user.
        purpose: `confirm` for a link that confirms the address, or `sign-in` for one
            that signs in.
        address: The address at the time of the request. Another address gets nothing.
        asked_by: The name of the person who requested it.
    """

    user_id: int
    purpose: str
    address: str
    asked_by: str


queues: Final[Registry[Callable[[MailAsked], None]]] = Registry()
"""Functions that queue a mail within the transaction of the caller."""


def queue(asked: MailAsked) -> None:
    """Queue a mail; it is sent once the transaction is committed."""
    for one in queues:
        one(asked)
