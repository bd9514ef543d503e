"""What other apps do by the clock: each registers what it asks for when it is due."""

from collections.abc import Callable
from datetime import datetime

from deltaweb.web.pages.registry import Registry

# Queues what is due at a time; it is called every few seconds, and safe to repeat.
Due = Callable[[datetime], None]

dues: Registry[Due] = Registry()


def request_due(*, now: datetime) -> None:
    """Queue all that is due."""
    for request in dues:
        request(now)
