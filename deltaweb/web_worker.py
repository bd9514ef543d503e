"""The worker of the web server: a slow client never holds one of its threads.

gunicorn's own worker lets a thread read a request as slowly as it is sent, and its loop
wait for clients to hang up. Here that loop takes requests in, from all connections at
once; a thread gets one when it is there: head and body. An answer that is a file, or
one whose parts may wait, goes out likewise: a thread sends what a client takes, and the
loop waits until it can take more (`deltaweb.web_bodies`). Each wait has an end.

Source: RFC 9112, section 9.6 (how a connection is closed).
"""

import contextlib
import errno
import re
import resource
import socket
from functools import partial
from selectors import EVENT_READ, EVENT_WRITE
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from gunicorn.http.unreader import SocketUnreader
from gunicorn.workers.gthread import TConn, ThreadWorker

from deltaweb.web_bodies import HeldBody, holding_bodies

if TYPE_CHECKING:
    from concurrent.futures import Future

ARRIVAL_S: Final = 20.0  # for a request to be there
READ_S: Final = 20.0  # for what a thread reads of one that is too large to be kept
SEND_S: Final = 120.0  # for a client to take the next part of an answer
LINGER_S: Final = 2.0  # for a client to hang up after its answer
DRAIN_S: Final = 0.1  # for the rest of a body that nobody reads
HEAD_BYTES: Final = 1 << 16
BODY_BYTES: Final = (4 << 20) + 1  # of the largest query, and one that is too large
KEPT_BYTES: Final = 64 << 20  # of all requests that are not there yet
PART_BYTES: Final = 1 << 16
NUM_DESCRIPTORS: Final = 8192  # connections, files that they wait for, and our own
_END_OF_HEAD: Final = b"\r\n\r\n"
_LENGTH: Final = re.compile(
    rb"\r\ncontent-length:[ \t]*(\d{1,9})[ \t]*\r\n", re.IGNORECASE
)
_MORE: Final = object()  # what a thread says that has sent a part of a body
_EXPECTS: Final = re.compile(rb"\r\nexpect:", re.IGNORECASE)


class Connection(TConn):  # type: ignore[misc]  # gunicorn has no types
    """A connection, and what came of its next request.

    Attributes:
        arrived: The bytes so far.
        wanted: How many there will be; None until the head is there.
        deadline: When it is closed if it waits still.
        body: What is left to send of its answer.
        keeps: Whether it stays open after that.
    """

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 (gunicorn's own)
        super().__init__(*arguments)
        self.arrived = bytearray()
        self.wanted: int | None = None
        self.deadline = 0.0
        self.body: HeldBody | None = None
        self.keeps: object = False

    def take_in(self, data: bytes) -> bool:
        """Add bytes to the request; tell whether it is there, or too large to keep."""
        searched = max(0, len(self.arrived) - len(_END_OF_HEAD))
        self.arrived += data
        if self.wanted is None:
            end = self.arrived.find(_END_OF_HEAD, searched)
            if end < 0:
                return len(self.arrived) > HEAD_BYTES
            end += len(_END_OF_HEAD)
            self.wanted = end + _body_length(bytes(self.arrived[:end]))
        return len(self.arrived) >= self.wanted

    def hand_over(self) -> None:
        """Give what arrived to the parser, which reads the rest by itself."""
        if not self.initialized:
            self.init()
            self.parser.unreader = BoundedUnreader(self.sock)
        self.parser.unreader.deadline = monotonic() + READ_S
        self.parser.unreader.unread(bytes(self.arrived))
        self.arrived = bytearray()
        self.wanted = None

    def end_body(self) -> bool:
        """Close what was to be sent; tell whether it was whole."""
        body, self.body = self.body, None
        if body is None:
            return True
        with contextlib.suppress(OSError):
            body.end()
            return body.is_sent
        return False


class BoundedUnreader(SocketUnreader):  # type: ignore[misc]  # gunicorn has no types
    """Reads from a socket until a deadline, however often a byte comes."""

    deadline = 0.0

    def chunk(self, size_hint: int | None = None) -> bytes:
        """Return the next bytes.

        Raises:
            TimeoutError: If none came in time.
        """
        usual_s = self.sock.gettimeout()
        left_s = self.deadline - monotonic()
        if left_s <= 0:
            raise TimeoutError
        self.sock.settimeout(left_s if usual_s is None else min(left_s, usual_s))
        try:
            data: bytes = super().chunk(size_hint)
        finally:
            self.sock.settimeout(usual_s)
        return data


class PatientWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """Threads that answer, and a loop that waits."""

    wsgi: Any

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 (gunicorn's own)
        super().__init__(*arguments, **named)
        self._waiting: dict[Connection, None] = {}
        self._bodies: dict[socket.socket, HeldBody] = {}
        self._kept_bytes = 0
        self._next_sweep = 0.0

    def init_process(self) -> None:
        """Begin, with as many open files as the system lets this process have."""
        usual, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = NUM_DESCRIPTORS if most < 0 else min(NUM_DESCRIPTORS, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(usual, wanted), most))
        super().init_process()

    def load_wsgi(self) -> None:
        """Load the application; its files and streams are sent here."""
        super().load_wsgi()
        self.wsgi = holding_bodies(self.wsgi, self._bodies.__setitem__)

    # === In the loop ===

    def accept(self, listener: socket.socket) -> None:
        """Wait for the request of a new connection."""
        try:
            client, address = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        self.nr_conns += 1
        self._await(Connection(self.cfg, client, address, listener.getsockname()))

    def on_client_socket_readable(
        self, conn: Connection, client: socket.socket
    ) -> None:
        """Wait for the next request of a connection that was kept."""
        self.poller.unregister(client)
        self.keepalived_conns.remove(conn)
        self._await(conn)

    def enqueue_req(self, conn: Connection) -> None:
        """Let a thread answer; a request that another has in tow is waited for."""
        if conn.initialized and not conn.arrived:
            ahead = conn.parser.unreader.take_buffered()
            if ahead and not conn.take_in(ahead):
                self._await(conn)
                return
        super().enqueue_req(conn)

    def finish_request(self, conn: Connection, fs: "Future[object]") -> None:
        """Keep the connection, send more, or let its client hang up."""
        if not fs.cancelled() and fs.exception() is None and fs.result() is _MORE:
            self._watch(conn, SEND_S, self._on_taking, event=EVENT_WRITE)
            return
        if fs.cancelled() or fs.exception() is not None or fs.result():
            super().finish_request(conn, fs)
            return
        try:
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._drop(conn)
            return
        self._watch(conn, LINGER_S, self._on_leaving)

    def murder_pending(self) -> None:
        """Close the connections that waited too long; all that idle, when stopping."""
        super().murder_pending()
        now = monotonic()
        if now < self._next_sweep and self.alive:
            return
        self._next_sweep = now + 1.0
        for conn in list(self._waiting):
            is_busy = self.alive or conn.arrived or conn.body
            if conn.deadline <= now or not is_busy:
                self._unwatch(conn)
                self._drop(conn)

    def _await(self, conn: Connection) -> None:
        self._watch(conn, ARRIVAL_S, self._on_arriving)

    def _on_arriving(self, conn: Connection, client: socket.socket) -> None:
        data = _received(client)
        if data is None:
            return
        self._kept_bytes += len(data)
        is_there = conn.take_in(data) or self._kept_bytes > KEPT_BYTES
        if data and not is_there:
            return
        self._unwatch(conn)
        if conn.arrived:
            super().enqueue_req(conn)
        else:
            self._drop(conn)

    def _on_leaving(self, conn: Connection, client: socket.socket) -> None:
        if _received(client) == b"":
            self._unwatch(conn)
            self._drop(conn)

    def _on_taking(self, conn: Connection, client: socket.socket) -> None:
        del client
        self._unwatch(conn)
        sending = self.tpool.submit(self._send_body, conn)
        sending.add_done_callback(
            lambda done: self.method_queue.defer(self.finish_request, conn, done)
        )

    def _watch(
        self,
        conn: Connection,
        wait_s: float,
        callback: Any,  # noqa: ANN401 (a bound method)
        *,
        event: int = EVENT_READ,
    ) -> None:
        conn.sock.settimeout(0)
        conn.deadline = monotonic() + wait_s
        self._kept_bytes += len(conn.arrived)
        self._waiting[conn] = None
        self.poller.register(conn.sock, event, partial(callback, conn))

    def _unwatch(self, conn: Connection) -> None:
        self.poller.unregister(conn.sock)
        del self._waiting[conn]
        self._kept_bytes -= len(conn.arrived)

    def _drop(self, conn: Connection) -> None:
        self.nr_conns -= 1
        if conn.body is not None:
            # Its end may be written to a database, which this loop cannot wait for.
            try:
                self.tpool.submit(conn.end_body)
            except RuntimeError:  # this process ends
                conn.end_body()
        conn.close()

    # === In a thread ===

    def handle(self, conn: Connection) -> object:
        """Answer the request that arrived, and begin to send its body."""
        conn.hand_over()
        conn.keeps = super().handle(conn)
        if conn.body is not None:
            return self._send_body(conn)
        if (unsent := self._bodies.pop(conn.sock, None)) is not None:
            conn.body = unsent  # its headers found nobody
            conn.end_body()
        return conn.keeps

    def _send_body(self, conn: Connection) -> object:
        """Send what the client takes; at its end tell whether to keep the connection.

        Returns:
            `_MORE` if not all is sent.
        """
        conn.sock.settimeout(0)
        try:
            if conn.body is not None and not conn.body.send_to(conn.sock):
                return _MORE
        except OSError:
            conn.keeps = False
        is_whole = conn.end_body()
        return conn.keeps if is_whole else False

    def handle_request(self, req: Any, conn: Connection) -> object:  # noqa: ANN401 (gunicorn's own)
        """Send the answer to a client that takes it."""
        conn.sock.settimeout(SEND_S)
        try:
            keeps = super().handle_request(req, conn)
        except TimeoutError as error:
            # What a client that is gone raises: nobody needs to hear of either.
            raise ConnectionResetError(errno.ECONNRESET, "too slow") from error
        conn.body = self._bodies.pop(conn.sock, None)
        return keeps

    def _keepalive_after(self, conn: Connection, keepalive: object) -> bool:
        deadline = monotonic() + DRAIN_S
        return bool(keepalive and conn.parser.finish_body(deadline=deadline))


def _body_length(head: bytes) -> int:
    """Return how many bytes of a body are waited for.

    None of one whose client waits to be asked for it, nor of one that is too large or
    does not tell its length: a thread reads those, until its deadline.
    """
    found = _LENGTH.search(head)
    if found is None or _EXPECTS.search(head) or int(found[1]) > BODY_BYTES:
        return 0
    return int(found[1])


def _received(client: socket.socket) -> bytes | None:
    """Return the next bytes, b"" at the end, None when there are none yet."""
    try:
        return client.recv(PART_BYTES)
    except BlockingIOError:
        return None
    except OSError:
        return b""
