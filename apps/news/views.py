"""Where pages wait for news, as streams of events that the web server holds.

Source: HTML standard, "Server-sent events": the lines of a stream.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime
from typing import Final, Protocol

from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    StreamingHttpResponse,
)
from django.utils import timezone
from django.views.decorators.http import require_GET

from apps.news.ends import end_of
from apps.news.hub import Hub, Subscription, hub
from apps.news.topics import of_session, of_user, revision

# What the web server puts into the environment (`deltaweb.serving.events`).
HOLDS: Final = "deltaweb.holds_events"
_HELLO: Final = b": listening\n\n"
_PULSE: Final = b":\n\n"
_BYE: Final = b"event: end\ndata:\n\n"


class NewsEvents:
    """Topics as they are told, until something ends it.

    Args:
        ends_at: When its user loses the right to listen; None for never.
    """

    def __init__(self, at: Hub, one: Subscription, *, ends_at: datetime | None) -> None:
        self._hub = at
        self._one = one
        self._ends_at = ends_at
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
        """Return what tells that the connection stands, unless its time is over."""
        if self._ends_at is not None and timezone.now() >= self._ends_at:
            self.end()
        return _PULSE

    def end(self) -> None:
        """Send no more than the end."""
        self._one.end()

    def close(self) -> None:
        """Hear nothing any more."""
        self._hub.remove(self._one)


class StreamSource(Protocol):
    """The messages of an `EventStream`, which the web server iterates over."""

    def attach(self, wake: Callable[[], None]) -> None:
        """Call this whenever there is something to send."""

    def take(self) -> bytes:
        """Return what is to be sent."""

    def end(self) -> None:
        """Send no more than the end."""

    def close(self) -> None:
        """Let go of all that is kept for it."""


class EventStream(StreamingHttpResponse):
    """An answer that goes on: its web server holds it, and no thread does.

    Attributes:
        events: What it tells; the server asks for them (`deltaweb.serving.events`).
    """

    def __init__(self, events: StreamSource) -> None:
        super().__init__(_nothing(), content_type="text/event-stream")
        self.events = events
        self["Cache-Control"] = "no-store"
        self["X-Accel-Buffering"] = "no"  # nginx would keep what is sent


def _nothing() -> Iterator[bytes]:
    yield from ()


MAX_TOPICS = 32  # of a page
MAX_LENGTH = 80  # of a topic with its revision


@require_GET
def news(request: HttpRequest) -> HttpResponseBase:
    """Tell a page which of its topics have moved on, as they do.

    `?on=job:1f…@5a0c…` names a topic and the revision that the page shows; where that
    is another one by now, it is told at once. 204 says that this server holds no
    connections, or too many, or hears no news itself, or that no session ends them, 404
    that the user may not know of one of the topics: such a page asks by itself.
    """
    session_key = request.session.session_key
    if not session_key or not request.META.get(HOLDS):
        return HttpResponse(status=204)
    asked = [text for text in request.GET.getlist("on") if len(text) <= MAX_LENGTH]
    shown = dict(_split(text) for text in asked[:MAX_TOPICS])
    at, owner = hub(), request.user.pk
    if not shown or not at.has_room_for(owner):
        return HttpResponse(status=204)
    ends = of_user(owner), of_session(session_key)
    one = Subscription(shown, ends=ends, owner=owner)
    with ExitStack() as undo:
        undo.callback(at.remove, one)
        at.add(one)
        # Only now: what happens after these looks is heard.
        if not at.is_live() or not request.session.exists(session_key):
            return HttpResponse(status=204)
        found = {topic: revision(request.user, topic) for topic in shown}
        if None in found.values():
            return HttpResponse(status=404)
        one.tell([topic for topic in shown if found[topic] != shown[topic]])
        undo.pop_all()
    return EventStream(NewsEvents(at, one, ends_at=end_of(request)))


def _split(text: str) -> tuple[str, str]:
    topic, _, shown = text.partition("@")
    return topic, shown
