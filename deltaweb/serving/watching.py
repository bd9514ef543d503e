"""What the loop of the web server waits for: each wait with its end.

What is overridden belongs to gunicorn's inside, as `deltaweb.serving.worker` says.

Source: RFC 9112, section 9.6 (how a connection is closed).
"""

import contextlib
import socket
from functools import partial
from selectors import EVENT_READ
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from gunicorn.workers.gthread import ThreadWorker

from deltaweb.serving.connections import Connection, received

if TYPE_CHECKING:
    from collections.abc import Iterator

LINGER_S: Final = 2.0  # for a client to hang up after its answer


class WatchingWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A loop that waits for connections, and lets no fault of one end the others.

    Attributes:
        waiting: The connections that it waits for, the longest first, but for those
            that were kept for another request.
        kept_bytes: Of all requests that are not answered yet.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 (gunicorn's own)
        super().__init__(*arguments, **named)
        self.waiting: dict[Connection, None] = {}
        self.kept_bytes = 0

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
        self.poller.register(conn.sock, event, partial(self._on_event, callback, conn))
        self.waiting[conn] = None

    def _on_event(
        self,
        callback: Any,  # noqa: ANN401 (a bound method)
        conn: Connection,
        client: socket.socket,
    ) -> None:
        with self._apart(conn):
            callback(conn, client)

    @contextlib.contextmanager
    def _apart(self, conn: Connection) -> "Iterator[None]":
        """Let no fault of a connection end the loop, and with it all the others."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 (whatever it is, it is this one's)
            self._close_failed(conn, error)

    def _close_failed(self, conn: Connection, error: BaseException) -> None:
        self.log.error("A connection failed and was closed", exc_info=error)
        self._give_up(conn)

    def _unwatch(self, conn: Connection) -> None:
        self.poller.unregister(conn.sock)
        del self.waiting[conn]
        self.kept_bytes -= len(conn.arrival.data)

    def _give_up(self, conn: Connection) -> None:
        """Close a connection, whatever it is in the middle of."""
        if conn in self.waiting:
            self._unwatch(conn)
        elif conn in self.keepalived_conns:
            self.keepalived_conns.remove(conn)
            self.poller.unregister(conn.sock)
        if conn.is_open:
            self._drop(conn)

    def _drop(self, conn: Connection) -> None:
        conn.is_open = False
        self.nr_conns -= 1
        if conn.body is not None:
            # Its end may be written to a database, which this loop cannot wait for.
            try:
                self.tpool.submit(conn.end_body)
            except RuntimeError:  # this process ends
                conn.end_body()
        conn.close()

    def _let_leave(self, conn: Connection) -> None:
        """Say that there is no more, and wait for the client to hang up."""
        try:
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._drop(conn)
            return
        self._watch(conn, LINGER_S, self._on_leaving)

    def _on_leaving(self, conn: Connection, client: socket.socket) -> None:
        if received(client) == b"":
            self._give_up(conn)
