"""The worker of the web server: a slow client never holds one of its threads.

gunicorn's own worker lets a thread read a request as slowly as it is sent, and its loop
wait for clients to hang up. Here the loop waits, for all connections at once, and a
thread works when there is something to do. Each wait has an end:

    accept ─► the loop takes a request in ─► it is there ─► a thread: handle
              _await, _on_arriving, _take_in  enqueue_req        │
                ▲ ARRIVAL_S                                      ▼
                │                                    the application answers
    on_client_socket_readable                                    │
                ▲                                                ▼
             kept ◄─ all is sent ◄────────── _send_body: what the client takes
         finish_request   │                    │ _MORE                 ▲
                          ▼                    ▼                       │
              _let_leave, LINGER_S     the loop waits, SEND_S ─► _on_taking

An answer that goes on (`_HELD`) is told by the loop itself (`deltaweb.serving.events`).
What goes wrong with one connection ends that connection, and nothing of the others
(`_apart`).

Why it is ours: beside 64 clients that take no more of a stream, one that is not slow
has its page in 0.5 ms (the worst of 10: 13 ms), from waitress and from granian not at
all (10 s waited); beside 64 that take no file 0.8 ms (15 ms; waitress 3 ms and 346 ms).
An answer costs 0.27 ms of processor time for a page, 5.6 for a file of 24 MiB, 8.1 for
such a stream (waitress 0.17, 17 and 33). `python -m tests.benchmarks web` measures it.

What is overridden, here and in `watching` and `connections`, belongs to gunicorn's
inside: its version is pinned, and `tests/unit/deltaweb/serving/test_gunicorn_inside.py`
fails when any of it changes.

Source: RFC 9112, section 9.6 (how a connection is closed).
"""

import contextlib
import os
import resource
import signal
import socket
from http import HTTPStatus
from selectors import EVENT_WRITE
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from gunicorn.http import errors

from deltaweb.environment.memory import RETIRE_AFTER_S, RETIRE_BYTES, own_bytes
from deltaweb.serving.bodies import HeldBody, HeldText, has_left, holding_bodies
from deltaweb.serving.connections import PART_BYTES, Connection, is_sent, received
from deltaweb.serving.events import HeldEvents
from deltaweb.serving.holding import SEND_S, HoldingWorker
from deltaweb.serving.requests import CONTINUE, Arrival, RefusedError, refusal
from deltaweb.serving.watching import LINGER_S

if TYPE_CHECKING:
    from concurrent.futures import Future

ARRIVAL_S: Final = 20.0  # for a request to be there
KEPT_BYTES: Final = 64 << 20  # of all requests that are not answered yet
NUM_DESCRIPTORS: Final = 8192  # connections, files that they wait for, and our own
NUM_OWN_DESCRIPTORS: Final = 192
LAST_ANSWER_S: Final = 3600.0  # for what a process that retires still sends
_MORE: Final = object()  # what a thread says that has sent a part of an answer
_HELD: Final = object()  # and one that has begun an answer that goes on
_STATUSES: Final[tuple[tuple[type[Exception], HTTPStatus], ...]] = (
    (errors.LimitRequestLine, HTTPStatus.REQUEST_URI_TOO_LONG),
    (errors.LimitRequestHeaders, HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE),
    (errors.UnsupportedTransferCoding, HTTPStatus.NOT_IMPLEMENTED),
    (errors.ExpectationFailed, HTTPStatus.EXPECTATION_FAILED),
    (errors.InvalidResponseHeader, HTTPStatus.INTERNAL_SERVER_ERROR),
    (errors.InvalidResponseHeaderName, HTTPStatus.INTERNAL_SERVER_ERROR),
    (errors.ParseException, HTTPStatus.BAD_REQUEST),
)


class PatientWorker(HoldingWorker):
    """Threads that answer, and a loop that waits."""

    wsgi: Any

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 (gunicorn's own)
        super().__init__(*arguments, **named)
        self._answers: dict[socket.socket, HeldBody] = {}
        self._heads: dict[socket.socket, bytes] = {}
        self._next_sweep = 0.0
        self._retires_from = monotonic() + RETIRE_AFTER_S

    def init_process(self) -> None:
        """Begin, with as many open files as the system lets this process have.

        A connection may have a file open as well: there are half as many.
        """
        usual, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = NUM_DESCRIPTORS if most < 0 else min(NUM_DESCRIPTORS, most)
        limit = max(usual, wanted)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, most))
        fitting = max(1, (limit - NUM_OWN_DESCRIPTORS) // 2)
        self.worker_connections = min(self.worker_connections, fitting)
        # A new connection takes the place of an idle one, so all of them may be kept.
        self.max_keepalived = self.worker_connections
        super().init_process()

    def load_wsgi(self) -> None:
        """Load the application; its answers are sent here."""
        super().load_wsgi()
        self.wsgi = holding_bodies(self.wsgi, self._answers.__setitem__, self.may_hold)

    # === In the loop ===

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        """Call back for what has happened to the connections that are watched still."""
        watched = self.poller.get_map()
        for key, _ in self.poller.select(timeout):
            # An earlier event of the same batch may have closed this connection, and
            # a new one may have its number.
            if watched.get(key.fd) is key:
                key.data(key.fileobj)

    def accept(self, listener: socket.socket) -> None:
        """Wait for the request of a new connection."""
        try:
            client, address = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        except OSError as error:
            self.log.warning("A connection cannot be taken: %s", error.strerror)
            self._close_an_idle()
            return
        conn = Connection(self.cfg, client, address, listener.getsockname())
        self.nr_conns += 1
        if self.nr_conns >= self.worker_connections:
            self._close_an_idle()
        with self._apart(conn):
            self._await(conn)

    def on_client_socket_readable(
        self, conn: Connection, client: socket.socket
    ) -> None:
        """Wait for the next request of a connection that was kept."""
        with self._apart(conn):
            self.poller.unregister(client)
            self.keepalived_conns.remove(conn)
            self._await(conn)
            self._on_arriving(conn, client)

    def enqueue_req(self, conn: Connection) -> None:
        """Take in a pipelined request."""
        with self._apart(conn):
            self._await(conn)
            self._take_in(conn, conn.parser.unreader.take_buffered())

    def finish_request(self, conn: Connection, fs: "Future[object]") -> None:
        """Keep the connection, send more, or let its client hang up."""
        self.kept_bytes -= conn.asked_bytes
        conn.asked_bytes = 0
        failure = None if fs.cancelled() else fs.exception()
        if failure is not None:
            self._close_failed(conn, failure)
            return
        result = not fs.cancelled() and fs.result()
        with self._apart(conn):
            if result is _HELD:
                self.hold(conn)
            elif result is _MORE:
                self._watch(conn, SEND_S, self._on_taking, event=EVENT_WRITE)
            elif result:
                super().finish_request(conn, fs)
            else:
                self._let_leave(conn)

    def murder_pending(self) -> None:
        """Close the connections that waited too long; retire when it is time."""
        super().murder_pending()
        now = monotonic()
        if now < self._next_sweep and self.alive:
            return
        self._next_sweep = now + 1.0
        for conn in list(self.waiting):
            if isinstance(conn.body, HeldEvents) and conn.body.is_quiet:
                self.beat(conn, conn.body, now)
                continue
            is_idle = not (conn.arrival.data or conn.body)
            # Who has just come may be about to ask.
            left_s = ARRIVAL_S - LINGER_S if is_idle and not self.alive else 0.0
            if conn.deadline - left_s <= now:
                self._give_up(conn)
        if self.alive and now > self._retires_from and own_bytes() > RETIRE_BYTES:
            self._retire()

    def _retire(self) -> None:
        """Let a new process take the place of this one, which ends what it has begun.

        The master then has one more until this one ends (`deltaweb.serving.server`).
        """
        self.log.warning("A web process uses much memory; another takes its place")
        self.cfg.set("graceful_timeout", int(LAST_ANSWER_S))
        self.alive = False
        os.kill(self.ppid, signal.SIGTTIN)

    def _close_an_idle(self) -> None:
        """Close the connection that is least likely to be missed.

        That is the one that was kept longest since its last request. Without any, it is
        the one that has waited longest for its first request to arrive.
        """
        if self.keepalived_conns:
            self._give_up(self.keepalived_conns[0])
            return
        for conn in self.waiting:
            if conn.body is None:
                self._give_up(conn)
                return

    def _await(self, conn: Connection) -> None:
        self._watch(conn, ARRIVAL_S, self._on_arriving)

    def _on_arriving(self, conn: Connection, client: socket.socket) -> None:
        if data := received(client):
            self._take_in(conn, data)
        elif data is not None:
            self._give_up(conn)

    def _take_in(self, conn: Connection, data: bytes) -> None:
        """Add to a request; have it answered when it is there."""
        before = len(conn.arrival.data)
        try:
            is_there = conn.arrival.take_in(data)
        except RefusedError as error:
            self.kept_bytes += len(conn.arrival.data) - before
            self._refuse(conn, error.status)
            return
        self.kept_bytes += len(conn.arrival.data) - before
        if is_there:
            self._unwatch(conn)
            conn.asked_at_s = monotonic()
            conn.asked_bytes = len(conn.arrival.data)
            self.kept_bytes += conn.asked_bytes
            super().enqueue_req(conn)
            return
        if conn.arrival.is_asking:
            conn.arrival.is_asking = False
            if not is_sent(conn.sock, CONTINUE):
                self._give_up(conn)
                return
        if self.kept_bytes > KEPT_BYTES:
            largest = max(self.waiting, key=lambda other: len(other.arrival.data))
            self._refuse(largest, HTTPStatus.SERVICE_UNAVAILABLE)

    def _refuse(self, conn: Connection, status: HTTPStatus) -> None:
        """Answer a request that is not taken in; no thread hears of it."""
        self._unwatch(conn)
        text = refusal(status, bytes(conn.arrival.data[:PART_BYTES]))
        conn.arrival = Arrival()
        if is_sent(conn.sock, text):
            self._let_leave(conn)
        else:
            self._drop(conn)

    def _on_taking(self, conn: Connection, client: socket.socket) -> None:
        del client
        self._unwatch(conn)
        sending = self.tpool.submit(self._send_body, conn)
        sending.add_done_callback(
            lambda done: self.method_queue.defer(self.finish_request, conn, done)
        )

    # === In a thread ===

    def handle(self, conn: Connection) -> object:
        """Answer the request that arrived, and begin to send the answer.

        A client that has left meanwhile is not answered.
        """
        if has_left(conn.sock, conn.asked_at_s):
            return False
        self._heads[conn.sock] = conn.hand_over()
        try:
            conn.keeps = super().handle(conn)
        finally:
            del self._heads[conn.sock]
        conn.body = self._answers.pop(conn.sock, None)
        if isinstance(conn.body, HeldEvents):
            self.attach(conn, conn.body)
            return _HELD
        return conn.keeps if conn.body is None else self._send_body(conn)

    def handle_error(
        self,
        req: object,
        client: socket.socket,
        addr: object,
        exc: Exception,
    ) -> None:
        """Answer what the parser refuses, or the application fails at.

        The log names no address that was asked for: it may hold a signature.
        """
        found = (status for kind, status in _STATUSES if isinstance(exc, kind))
        status = next(found, HTTPStatus.INTERNAL_SERVER_ERROR)
        if status == HTTPStatus.INTERNAL_SERVER_ERROR:
            method = getattr(req, "method", "")
            self.log.error("A %s request failed", method, exc_info=exc)
        else:
            address = addr[0] if isinstance(addr, tuple) and addr else ""
            kind = type(exc).__name__
            self.log.warning("%s to a request from %s: %s", int(status), address, kind)
        if (unsent := self._answers.pop(client, None)) is not None:
            with contextlib.suppress(OSError):
                unsent.end()
        self._answers[client] = HeldText(refusal(status, self._heads.get(client, b"")))

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

    def _keepalive_after(self, conn: Connection, keepalive: object) -> bool:
        is_read = keepalive and conn.parser.finish_body()
        return bool(is_read and not conn.parser.unreader.ran_dry)
