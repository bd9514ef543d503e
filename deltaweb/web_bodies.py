"""Files as the bodies of answers: sent piece by piece, as their clients take them in.

The application hands a file over as WSGI has it; its headers go out as usual. The file
then waits with its connection: whenever the client can take more, a thread sends what
fits and goes on to other work. A client that stalls so holds no thread.

Source: PEP 3333, "Optional Platform-Specific File Handling".
"""

import os
from collections.abc import Callable, Iterable, Iterator
from socket import socket
from typing import Any, Final

TURN_BYTES: Final = 16 << 20  # sent at once to a client that takes them: others wait
BODIES: Final = ("200 ", "206 ")  # statuses with a body
_LENGTH: Final = "content-length"
Environ = dict[str, Any]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


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


def holding_files(
    application: Application, hold: Callable[[socket, HeldFile], None]
) -> Application:
    """Let the server send the files of an application.

    Args:
        application: A WSGI application.
        hold: Told of each file that is to be sent after the headers, and to whom.
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
        if not isinstance(answer, HeldFile):
            return answer
        has_body = environ["REQUEST_METHOD"] != "HEAD" and "length" in started
        if has_body and answer.begin(started["length"]):
            hold(environ["gunicorn.socket"], answer)
            return answer
        return usual(answer.file, answer.block_bytes)

    return wrapped
