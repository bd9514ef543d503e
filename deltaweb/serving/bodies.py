"""Answers that are sent piece by piece, as their clients take them in.

The application answers as WSGI has it; what the server writes of it, headers and body,
waits with the connection: whenever the client can take more, a thread sends what fits
and goes on to other work. A client that stalls so holds no thread. Parts that only the
thread that began may make are made by it at once, and kept where the client is slower.

Source: PEP 3333, "Optional Platform-Specific File Handling".
"""

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from socket import MSG_DONTWAIT, MSG_MORE, MSG_PEEK, socket
from tempfile import SpooledTemporaryFile
from time import monotonic
from typing import Any, Final, Protocol, cast

from deltaweb.serving.events import EVENTS, HOLDS, HeldEvents
from deltaweb.serving.outbox import HeldAnswer, Outbox

TURN_BYTES: Final = 16 << 20  # sent at once to a client that takes them: others wait
KEPT_BYTES: Final = 1 << 20  # of a stream for a slow client; the rest goes to a file
BLOCK_BYTES: Final = 1 << 16
PATIENCE_S: Final = 1.0  # of a client that is there for certain
BODILESS: Final = {"204", "304"}
MAY_WAIT: Final = "may_wait"  # of an answer whose parts any thread may make
HAS_LEFT: Final = "deltaweb.has_left"  # in the environment: whether the client has
_LENGTH: Final = "content-length"
Environ = dict[str, Any]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


def has_left(client: socket, asked_at_s: float) -> bool:
    """Whether a client has closed its connection, as far as the kernel knows.

    One that sends its next request ahead counts as there. So does one that has not
    waited for long: it may have closed its own side alone.

    Args:
        asked_at_s: When its request was there, on the monotonic clock.
    """
    if monotonic() - asked_at_s < PATIENCE_S:
        return False
    try:
        return client.recv(1, MSG_PEEK | MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


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


class HeldText:
    """An answer that is there whole, and has nothing to close."""

    def __init__(self, text: bytes) -> None:
        self._outbox = Outbox()
        self._outbox.sendall(text)

    @property
    def is_sent(self) -> bool:
        return not self._outbox.unsent

    def send_to(self, client: socket) -> bool:
        """Send what a client takes; tell whether it has all."""
        while self._outbox.unsent:
            try:
                self._outbox.send_to(client)
            except BlockingIOError:
                return False
        return True

    def end(self) -> None:
        """Close nothing."""


class HeldFile:
    """A file that is sent after its headers; the server finds nothing to iterate.

    Args:
        file: The file, standing at the first byte to send.
        block_bytes: How much is read at once where the file cannot be held.
    """

    def __init__(self, file: Any, block_bytes: int = BLOCK_BYTES) -> None:  # noqa: ANN401 (whatever the application opened)
        self.file = file
        self.block_bytes = block_bytes
        self._outbox = Outbox()
        self._descriptor = -1
        self._offset = 0
        self._left = 0

    def begin(self, outbox: Outbox, length: int) -> bool:
        """Note what there is to send; False if it has to be read by the application.

        Args:
            length: Of the answer in bytes; 0 where it has none, or an unknown one.
        """
        if not length:
            return False
        try:
            self._descriptor = self.file.fileno()
            self._offset = os.lseek(self._descriptor, 0, os.SEEK_CUR)
        except (AttributeError, OSError):
            return False
        self._left = length
        self._outbox = outbox
        return True

    @property
    def is_sent(self) -> bool:
        return not self._left and not self._outbox.unsent

    def __iter__(self) -> Iterator[bytes]:
        return iter(())

    def send_to(self, client: socket) -> bool:
        """Send what a client takes without making us wait; tell whether it has all.

        A file that has become shorter is all sent where it ends.
        """
        turn = TURN_BYTES
        try:
            while self._outbox.unsent:
                self._outbox.send_to(client, MSG_MORE if self._left else 0)
            while self._left and turn > 0:
                count = min(self._left, turn)
                sent = os.sendfile(
                    client.fileno(), self._descriptor, self._offset, count
                )
                if not sent:
                    return True
                self._offset += sent
                self._left -= sent
                turn -= sent
        except BlockingIOError:
            return False
        return self.is_sent

    def end(self) -> None:
        """Close the file, and so the application's answer."""
        self.file.close()


class HeldStream(HeldAnswer):
    """An answer whose parts are made when its client can take them.

    They are made by one thread after the other, and never by two at once; or all by
    the first, which keeps what its client does not take.

    Args:
        may_wait: Whether any thread may make a part.
        has_left: Whether the client has.
        response: The server's response to the request, which writes to `outbox`.
        outbox: What is to be sent first.
    """

    def __init__(  # noqa: PLR0913 (an answer and the server's side of it)
        self,
        parts: Iterable[bytes],
        close: Callable[[], object],
        *,
        may_wait: bool,
        has_left: Callable[[], bool],
        response: Any,  # noqa: ANN401 (gunicorn's own)
        outbox: Outbox,
    ) -> None:
        super().__init__(response, outbox)
        self._parts = iter(parts)
        self._close = close
        self._may_wait = may_wait
        self._has_left = has_left
        self._next: Callable[[], bytes] = self._next_part
        self._is_begun = False

    def send_to(self, client: socket) -> bool:
        """Send parts while a client takes them; tell whether it has all."""
        turn = TURN_BYTES
        if not self._is_begun:  # its headers go with the first part
            self._is_begun = True
            self._outbox.sendall(self._next())
        while turn > 0:
            if not self._outbox.unsent:
                if self._is_made:
                    return True
                self._outbox.sendall(self._next())
                continue
            try:
                turn -= self._outbox.send_to(client)
            except BlockingIOError:
                break
        if not (self._may_wait or self._is_made):
            self._make_rest()
        return self.is_sent

    def end(self) -> None:
        """Close the application's answer."""
        self._close()

    def _make_rest(self) -> None:
        """Make what this thread alone may make, and keep it for the client."""
        kept = SpooledTemporaryFile[bytes](max_size=KEPT_BYTES)
        try:
            while not self._is_made:
                if self._has_left():
                    raise ConnectionAbortedError(
                        errno.ECONNABORTED, "the client is gone"
                    )
                kept.write(self._next_part())
        except OSError:
            kept.close()
            raise
        self._close()
        kept.seek(0)
        self._close, self._next = kept.close, partial(self._next_kept, kept)
        self._may_wait, self._is_made = True, False

    def _next_kept(self, kept: "SpooledTemporaryFile[bytes]") -> bytes:
        part = kept.read(BLOCK_BYTES)
        self._is_made = not part
        return part

    def _next_part(self) -> bytes:
        """Make the next part, as it goes over the wire."""
        try:
            part = next(self._parts, None)
        except Exception as error:
            # The client must see that the answer is not whole.
            raise ConnectionAbortedError(
                errno.ECONNABORTED, "it was cut off"
            ) from error
        if part is None:
            return self._ended()
        return self._framed(part)


def holding_bodies(
    application: Application,
    hold: Callable[[socket, HeldBody], None],
    may_hold: Callable[[], bool],
) -> Application:
    """Let the server send whatever an application answers.

    Args:
        hold: Told of each answer that is to be sent, headers included, and to whom.
        may_hold: Whether one more may go on (`deltaweb.serving.events`).
    """

    def wrapped(environ: Environ, start_response: Callable[..., Any]) -> Any:  # noqa: ANN401 (what the application answers)
        client = environ["gunicorn.socket"]
        response = cast("Any", start_response).__self__
        response.sock = outbox = Outbox()
        started: dict[str, Any] = {}

        def start(status: str, headers: Any, *error: Any) -> Any:  # noqa: ANN401 (WSGI's)
            lengths = [int(v) for name, v in headers if name.lower() == _LENGTH]
            is_bare = environ["REQUEST_METHOD"] == "HEAD" or status[:3] in BODILESS
            started.update(length=sum(lengths), is_bare=is_bare)
            return start_response(status, headers, *error)

        usual = environ["wsgi.file_wrapper"]
        environ["wsgi.file_wrapper"] = HeldFile
        environ[HAS_LEFT] = partial(has_left, client, monotonic())
        environ[HOLDS] = may_hold()
        answer: Any = application(environ, start)
        environ["wsgi.file_wrapper"] = usual
        held: HeldBody
        if (events := getattr(answer, EVENTS, None)) is not None:
            answer.close()  # the request is over; what it told goes on
            held = HeldEvents(events, response=response, outbox=outbox)
        elif (
            isinstance(answer, HeldFile)
            and not started["is_bare"]
            and answer.begin(outbox, started["length"])
        ):
            held = answer
        else:
            parts, close, may_wait = _parts(answer, is_bare=started["is_bare"])
            held = HeldStream(
                parts,
                close,
                may_wait=may_wait,
                has_left=environ[HAS_LEFT],
                response=response,
                outbox=outbox,
            )
        hold(client, held)
        return held

    return wrapped


def _parts(
    answer: Any,  # noqa: ANN401 (what the application answers)
    *,
    is_bare: bool,
) -> tuple[Iterable[bytes], Callable[[], object], bool]:
    """Return the parts of an answer, what ends it, and whether any thread makes them.

    Args:
        is_bare: Whether headers are all that may be sent.
    """
    if isinstance(answer, HeldFile):
        read = partial(answer.file.read, answer.block_bytes)
        return (() if is_bare else iter(read, b"")), answer.end, True
    close = getattr(answer, "close", _do_nothing)
    if is_bare:
        return (), close, True
    if getattr(answer, "streaming", True):
        return answer, close, getattr(answer, MAY_WAIT, False)
    whole = list(answer)
    close()
    return whole, _do_nothing, True


def _do_nothing() -> None:
    """End what has no end."""
