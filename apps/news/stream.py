"""What one page waits for, as a stream of events that the web server holds.

Source: HTML standard, "Server-sent events": the lines of a stream.
"""

from collections.abc import Callable, Iterator
from typing import Final

from django.http import StreamingHttpResponse

from deltaweb.web.news.hub import Hub, Subscription

# What the web server puts into the environment (`deltaweb.serving.events`).
HOLDS: Final = "deltaweb.holds_events"
_HELLO: Final = b": listening\n\n"
_PULSE: Final = b":\n\n"
_BYE: Final = b"event: end\ndata:\n\n"


class NewsEvents:
    """Topics as they are told, until something ends it."""

    def __init__(self, at: Hub, one: Subscription) -> None:
        self._hub = at
        self._one = one
        self._is_begun = False
        self._is_ended = False

    @property
    def has_news(self) -> bool:
        return not self._is_ended and (not self._is_begun or self._one.has_news)

    @property
    def is_over(self) -> bool:
        return self._is_ended

    def attach(self, wake: Callable[[], None]) -> None:
        """Call this whenever there is something to send."""
        self._one.attach(wake)

    def take(self) -> bytes:
        """Return what is to be sent."""
        if self._is_ended:
            return b""
        text = b"" if self._is_begun else _HELLO
        self._is_begun = True
        if news := self._one.take():
            text += f"data: {' '.join(news)}\n\n".encode("ascii")
        if self._one.is_over:
            self._is_ended = True
            text += _BYE
        return text

    def pulse(self) -> bytes:
        """Return what tells that the connection stands."""
        return _PULSE

    def end(self) -> None:
        """Send no more than the end."""
        self._one.end()

    def close(self) -> None:
        """Hear nothing any more."""
        self._hub.remove(self._one)


class EventStream(StreamingHttpResponse):
    """An answer that goes on: its web server holds it, and no thread does.

    Attributes:
        events: What it tells; the server asks for them (`deltaweb.serving.events`).
    """

    def __init__(self, events: NewsEvents) -> None:
        super().__init__(_nothing(), content_type="text/event-stream")
        self.events = events
        self["Cache-Control"] = "no-store"
        self["X-Accel-Buffering"] = "no"  # nginx would keep what is sent


def _nothing() -> Iterator[bytes]:
    yield from ()
