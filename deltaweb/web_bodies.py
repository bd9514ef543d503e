"""Bodies of answers that are sent piece by piece, as their clients take them in.

The application hands a file over as WSGI has it, or marks an answer that it streams by
`may_wait`; its headers go out as usual. The body then waits with its connection:
whenever the client can take more, a thread sends what fits and goes on to other work.
A client that stalls so holds no thread.

Source: PEP 3333, "Optional Platform-Specific File Handling".
"""

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from socket import socket
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

if TYPE_CHECKING:
    from types import MethodType

TURN_BYTES: Final = 16 << 20  # sent at once to a client that takes them: others wait
BODIES: Final = ("200 ", "206 ")  # statuses with a body
MAY_WAIT: Final = "may_wait"  # of an answer whose parts any thread may make
_LENGTH: Final = "content-length"
Environ = dict[str, Any]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


class HeldBody(Protocol):
    """What is left to send of an answer."""

    @property
    def is_sent(self) -> bool:
        """Whether the client has all of it."""

    def send_to(self, client: socket) -> bool:
        """Send what a client takes without making us wait; tell whether it has all.

        Raises:
            OSError: If the client is gone, or the rest cannot be made.
        """

    def end(self) -> None:
        """Close the application's answer.

        Raises:
            OSError: If the application finds that it is not whole.
        """


class HeldFile:
    """A file that is sent after its headers; the server finds nothing to iterate.

    Args:
        file: The file, standing at the first byte to send.
        block_bytes: How much is read at once where the file cannot be held.
    """

    def __init__(self, file: Any, block_bytes: int = 1 << 16) -> None:  # noqa: ANN401 (whatever the application opened)
        self.file = file
        self.block_bytes = block_bytes
        self._descriptor = -1
        self._offset = 0
        self._left = 0

    def begin(self, length: int) -> bool:
        """Note what there is to send; False if it has to be read by the application."""
        try:
            self._descriptor = self.file.fileno()
            self._offset = os.lseek(self._descriptor, 0, os.SEEK_CUR)
        except (AttributeError, OSError):
            return False
        self._left = length
        return True

    @property
    def is_sent(self) -> bool:
        """Whether the client has all that its headers told of."""
        return not self._left

    def __iter__(self) -> Iterator[bytes]:
        return iter(())

    def send_to(self, client: socket) -> bool:
        """Send what a client takes without making us wait; tell whether it has all.

        A file that has become shorter is all sent where it ends.

        Raises:
            OSError: If the client is gone.
        """
        turn = TURN_BYTES
        while self._left and turn > 0:
            count = min(self._left, turn)
            try:
                sent = os.sendfile(
                    client.fileno(), self._descriptor, self._offset, count
                )
            except BlockingIOError:
                return False
            if not sent:
                break
            self._offset += sent
            self._left -= sent
            turn -= sent
        return turn > 0 or not self._left

    def end(self) -> None:
        """Close the file, and so the application's answer.

        Raises:
            OSError: If the application finds that it is not whole.
        """
        self.file.close()


class HeldStream:
    """An answer whose parts are made when its client can take them.

    They are made by one thread after the other, and never by two at once.

    Args:
        answer: The application's; closed at the end.
        response: The server's response to the request.
    """

    def __init__(self, answer: Any, response: Any) -> None:  # noqa: ANN401 (Django's and gunicorn's own)
        self._answer = answer
        self._response = response
        self._parts: Iterator[bytes] = iter(answer)
        self._is_chunked = False
        self._is_made = False
        self._unsent = memoryview(b"")

    @property
    def is_sent(self) -> bool:
        """Whether the client has all of it, and knows it."""
        return self._is_made and not self._unsent

    def __iter__(self) -> Iterator[bytes]:
        """Send the headers; the server finds nothing else to send, and no end."""
        self._response.send_headers()
        self._is_chunked = self._response.chunked
        if self._is_chunked:
            self._response.chunked = False
            self._response.response_length = 0  # or the connection would be closed
        return iter(())

    def send_to(self, client: socket) -> bool:
        """Make and send parts as long as a client takes them; tell whether it has all.

        Raises:
            OSError: If the client is gone, or a part cannot be made.
        """
        turn = TURN_BYTES
        while turn > 0:
            if not self._unsent:
                if self._is_made:
                    return True
                self._unsent = memoryview(self._next_part())
                continue
            try:
                sent = client.send(self._unsent)
            except BlockingIOError:
                return False
            self._unsent = self._unsent[sent:]
            turn -= sent
        return self.is_sent

    def end(self) -> None:
        """Close the application's answer."""
        self._answer.close()

    def _next_part(self) -> bytes:
        """Make the next part, as it goes over the wire.

        Source: RFC 9112, section 7.1.
        """
        try:
            part = next(self._parts, None)
        except Exception as error:
            # The client must see that the answer is not whole.
            raise ConnectionAbortedError(errno.ECONNABORTED, "it broke off") from error
        if part is None:
            self._is_made = True
            return b"0\r\n\r\n" if self._is_chunked else b""
        if not self._is_chunked or not part:
            return part
        return b"%x\r\n%b\r\n" % (len(part), part)


def holding_bodies(
    application: Application, hold: Callable[[socket, HeldBody], None]
) -> Application:
    """Let the server send the files, and what may wait, of an application.

    Args:
        application: A WSGI application.
        hold: Told of each body that is to be sent after the headers, and to whom.
    """

    def wrapped(environ: Environ, start_response: Callable[..., Any]) -> Any:  # noqa: ANN401 (what the application answers)
        usual = environ["wsgi.file_wrapper"]
        started: dict[str, int] = {}

        def start(status: str, headers: Any, *error: Any) -> Any:  # noqa: ANN401 (WSGI's)
            lengths = [int(v) for name, v in headers if name.lower() == _LENGTH]
            if lengths and status.startswith(BODIES):
                started["length"] = lengths[0]
            return start_response(status, headers, *error)

        environ["wsgi.file_wrapper"] = HeldFile
        answer = application(environ, start)
        environ["wsgi.file_wrapper"] = usual
        if getattr(answer, MAY_WAIT, False) and environ["REQUEST_METHOD"] != "HEAD":
            response = cast("MethodType", start_response).__self__
            stream = HeldStream(answer, response)
            hold(environ["gunicorn.socket"], stream)
            return stream
        if not isinstance(answer, HeldFile):
            return answer
        has_body = environ["REQUEST_METHOD"] != "HEAD" and "length" in started
        if has_body and answer.begin(started["length"]):
            hold(environ["gunicorn.socket"], answer)
            return answer
        return usual(answer.file, answer.block_bytes)

    return wrapped
