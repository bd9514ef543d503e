"""Answers that go on for as long as a page is open, without a thread that waits.

A thread begins such an answer and goes on to other work; whatever there is to tell
later, and a pulse that keeps the connection, is sent by the loop: a few bytes that
never make it wait. Each answer has an end, so that its page asks again, with the rights
that its user has then.

Source: HTML standard, "Server-sent events", "Authoring notes": a comment every 15
seconds or so against proxies that drop what is silent.
"""

import random
from collections.abc import Callable
from socket import socket
from time import monotonic
from typing import Any, Final, Protocol

from deltaweb.serving.outbox import HeldAnswer, Outbox

HOLDS: Final = "deltaweb.holds_events"  # in the environment: whether one more is held
EVENTS: Final = "events"  # of an answer that goes on: what it tells
PULSE_S: Final = 20.0  # between two signs of life
HELD_S: Final = 300.0  # at least; not all at the same time
SPREAD_S: Final = 60.0


class Events(Protocol):
    """What an answer tells; the application's own."""

    @property
    def has_news(self) -> bool:
        """Whether there is something to take."""

    @property
    def is_over(self) -> bool:
        """Whether nothing comes any more."""

    def attach(self, wake: Callable[[], None]) -> None:
        """Call this, in any thread, whenever there is something to take."""

    def take(self) -> bytes:
        """Return what is to be sent now."""

    def pulse(self) -> bytes:
        """Return what says nothing."""

    def end(self) -> None:
        """Come to an end, which is taken like all else."""

    def close(self) -> None:
        """Let go of what is kept for it."""


class HeldEvents(HeldAnswer):
    """An answer that goes on.

    Args:
        response: The server's response to the request, which writes to `outbox`.
        outbox: What is to be sent first.
    """

    def __init__(
        self,
        events: Events,
        *,
        response: Any,  # noqa: ANN401 (gunicorn's own)
        outbox: Outbox,
    ) -> None:
        super().__init__(response, outbox)
        self.events = events
        self._ends_at_s = monotonic() + HELD_S + random.uniform(0, SPREAD_S)  # noqa: S311 (spreads load)

    @property
    def is_stuck(self) -> bool:
        """Whether its client has not taken all yet."""
        return bool(self._outbox.unsent)

    @property
    def is_quiet(self) -> bool:
        """Whether there is nothing to send at the moment."""
        return not (self.is_stuck or self.events.has_news or self.events.is_over)

    def send_to(self, client: socket) -> bool:
        """Send what there is and the client takes; tell whether that was the end."""
        while self._outbox.unsent or self._fill():
            try:
                self._outbox.send_to(client)
            except BlockingIOError:
                return False
        return self._is_made

    def _fill(self) -> bool:
        """Take what there is to tell, only when all before it is sent."""
        if self.events.has_news:
            self._outbox.sendall(self._framed(self.events.take()))
        elif self.events.is_over and not self._is_made:
            self._outbox.sendall(self._ended())
        return bool(self._outbox.unsent)

    def beat(self) -> None:
        """Say that the connection stands, or that it is time to ask again."""
        if monotonic() >= self._ends_at_s:
            self.events.end()
        else:
            self._outbox.sendall(self._framed(self.events.pulse()))

    def end(self) -> None:
        """Let go of the application's answer."""
        self.events.close()
