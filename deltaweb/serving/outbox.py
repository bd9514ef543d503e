"""What is to be sent to a client, as soon as it takes it."""

from collections.abc import Iterator
from socket import socket
from typing import Any


class Outbox:
    """Stands in for a response's socket: what the server writes is sent later."""

    def __init__(self) -> None:
        self.unsent = memoryview(b"")

    def sendall(self, data: bytes) -> None:
        """Keep what is to be sent."""
        ahead = self.unsent
        self.unsent = memoryview(b"".join((ahead, data)) if ahead else data)

    def send_to(self, client: socket, flags: int = 0) -> int:
        """Send what a client takes; return how many bytes."""
        sent = client.send(self.unsent, flags)
        self.unsent = self.unsent[sent:]
        return sent


def chunk(part: bytes) -> bytes:
    """Return a part as a chunk; nothing of nothing, which would be the last one.

    Source: RFC 9112, section 7.1.
    """
    return b"%x\r\n%b\r\n" % (len(part), part) if part else b""


class HeldAnswer:
    """An answer whose length nobody knows: the server writes its headers, and no more.

    Args:
        response: The server's response to the request, which writes to `outbox`.
        outbox: What is to be sent first.
    """

    def __init__(self, response: Any, outbox: Outbox) -> None:  # noqa: ANN401 (gunicorn's own)
        self._response = response
        self._outbox = outbox
        self._is_chunked = False
        self._is_made = False

    @property
    def is_sent(self) -> bool:
        """Whether its end is made, and the client has all of it."""
        return self._is_made and not self._outbox.unsent

    def __iter__(self) -> Iterator[bytes]:
        """Write the headers; the server finds nothing else to send, and no end."""
        self._response.send_headers()
        self._is_chunked = self._response.chunked
        if self._is_chunked:
            self._response.chunked = False
            self._response.response_length = 0  # or the connection would be closed
        return iter(())

    def _framed(self, part: bytes) -> bytes:
        return chunk(part) if self._is_chunked else part

    def _ended(self) -> bytes:
        """Note that no part follows, and return what says so."""
        self._is_made = True
        return b"0\r\n\r\n" if self._is_chunked else b""
