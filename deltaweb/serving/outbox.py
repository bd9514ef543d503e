"""What is to be sent to a client, as soon as it takes it."""

from socket import socket


class Outbox:
    """Stands in for a response's socket: what the server writes is sent later."""

    def __init__(self) -> None:
        self.unsent = memoryview(b"")

    def sendall(self, data: bytes) -> None:
        """Keep what is to be sent."""
        ahead = self.unsent
        self.unsent = memoryview(b"".join((ahead, data)) if ahead else data)

    def send_to(self, client: socket, flags: int = 0) -> int:
        """Send what a client takes; return how many bytes.

        Raises:
            BlockingIOError: If it takes none now.
            OSError: If it is gone.
        """
        sent = client.send(self.unsent, flags)
        self.unsent = self.unsent[sent:]
        return sent


def chunk(part: bytes) -> bytes:
    """Return a part as a chunk; nothing of nothing, which would be the last one.

    Source: RFC 9112, section 7.1.
    """
    return b"%x\r\n%b\r\n" % (len(part), part) if part else b""
