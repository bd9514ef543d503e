"""A connection of the web server, with what came of its next request and its answer."""

import contextlib
import socket
from typing import TYPE_CHECKING, Any, Final

from gunicorn.http.unreader import Unreader
from gunicorn.workers.gthread import TConn

from deltaweb.serving.requests import Arrival

if TYPE_CHECKING:
    from deltaweb.serving.bodies import HeldBody

PART_BYTES: Final = 1 << 16


class Connection(TConn):  # type: ignore[misc]  # gunicorn has no types
    """A connection, and what came of its next request.

    Attributes:
        asked_bytes: How long the request is that waits for a thread, or has one.
        body: What is left to send of its answer.
        keeps: Whether it stays open after that.
        is_open: Whether it counts among the connections of the worker.
    """

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 (gunicorn's own)
        super().__init__(*arguments)
        self.arrival = Arrival()
        self.asked_bytes = 0
        self.asked_at_s = 0.0
        self.deadline = 0.0
        self.body: HeldBody | None = None
        self.keeps: object = False
        self.is_open = True

    def hand_over(self) -> bytes:
        """Give what arrived to the parser, which finds nothing else to read.

        Returns:
            The beginning of the request.
        """
        if not self.initialized:
            self.init()
            self.parser.unreader = ArrivedBytes()
        arrived = bytes(self.arrival.data)
        self.parser.unreader.unread(arrived)
        self.arrival = Arrival()
        return arrived[:PART_BYTES]

    def end_body(self) -> bool:
        """Close what was to be sent; tell whether it was whole."""
        body, self.body = self.body, None
        if body is None:
            return True
        with contextlib.suppress(OSError):
            body.end()
            return body.is_sent
        return False


class ArrivedBytes(Unreader):  # type: ignore[misc]  # gunicorn has no types
    """What there is of a request: nobody waits for more.

    Attributes:
        ran_dry: Whether the parser wanted more: where a request ends is not known then.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ran_dry = False

    def chunk(self, size_hint: int | None = None) -> bytes:
        del size_hint
        self.ran_dry = True
        return b""


def received(client: socket.socket) -> bytes | None:
    """Return the next bytes, b"" at the end, None when there are none yet."""
    try:
        return client.recv(PART_BYTES)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def is_sent(client: socket.socket, text: bytes) -> bool:
    """Send a few bytes; tell whether the client has taken them."""
    try:
        return client.send(text) == len(text)
    except OSError:
        return False
