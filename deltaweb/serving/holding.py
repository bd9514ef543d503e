"""The loop of the web server, as it holds answers that go on."""

import socket
from selectors import EVENT_WRITE
from typing import Any, Final

from deltaweb.serving.connections import Connection, received
from deltaweb.serving.events import PULSE_S, HeldEvents
from deltaweb.serving.watching import WatchingWorker

SEND_S: Final = 120.0  # for a client to take the next part of an answer


class HoldingWorker(WatchingWorker):
    """Tells pages what has happened, and holds no thread for them."""

    worker_connections: int

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 (gunicorn's own)
        super().__init__(*arguments, **named)
        self._num_held = 0

    def may_hold(self) -> bool:
        """Whether half of the connections are left for requests."""
        return self._num_held < self.worker_connections // 2

    def hold(self, conn: Connection) -> None:
        """Begin to tell what happens, in the loop."""
        self._num_held += 1
        self._tell(conn)

    def attach(self, conn: Connection, body: HeldEvents) -> None:
        """Let the loop hear when there is something to tell, in a thread."""
        conn.sock.settimeout(0)
        body.events.attach(lambda: self.method_queue.defer(self._on_news, conn))

    def _tell(self, conn: Connection) -> None:
        """Send what there is to tell, and wait until there is more."""
        body = conn.body
        try:
            is_over = body is None or body.send_to(conn.sock)
        except OSError:
            self._give_up(conn)
            return
        if is_over:
            self._num_held -= 1
            conn.end_body()
            self._let_leave(conn)
        elif isinstance(body, HeldEvents) and body.is_quiet:
            self._watch(conn, PULSE_S, self._on_held)
        else:
            self._watch(conn, SEND_S, self._on_more_taken, event=EVENT_WRITE)

    def _on_news(self, conn: Connection) -> None:
        """Tell a page what has happened, unless that is being done."""
        with self._apart(conn):
            body = conn.body if conn in self.waiting else None
            if isinstance(body, HeldEvents) and not body.is_stuck:
                self._unwatch(conn)
                self._tell(conn)

    def _on_more_taken(self, conn: Connection, client: socket.socket) -> None:
        del client
        self._unwatch(conn)
        self._tell(conn)

    def _on_held(self, conn: Connection, client: socket.socket) -> None:
        """Close what its client has left; whatever else it says ends it, too."""
        if received(client) is not None:
            self._give_up(conn)

    def beat(self, conn: Connection, body: HeldEvents, now: float) -> None:
        """Give a sign of life where it is due; end all when this process ends."""
        if not self.alive:
            body.events.end()  # its page asks the process that comes next
        elif conn.deadline <= now:
            body.beat()
            self._unwatch(conn)
            self._tell(conn)

    def _drop(self, conn: Connection) -> None:
        self._num_held -= isinstance(conn.body, HeldEvents)
        super()._drop(conn)
