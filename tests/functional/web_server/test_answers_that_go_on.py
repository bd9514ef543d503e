"""Pages that wait for news: the loop holds them, and no thread does."""

import contextlib
import http.client
import socket
import struct
from pathlib import Path

from tests.functional.web_server.patient_server import (
    ANSWERED_S,
    NUM_THREADS,
    PATIENCE_S,
    connect,
    is_served,
    received,
    serving,
)
from tests.support.processes.installation import wait_for

LISTEN = b"GET /listen HTTP/1.1\r\nHost: a\r\n\r\n"
LISTEN_OLD = b"GET /listen HTTP/1.0\r\n\r\n"
NUM_SHOUTS = 50  # more than the kernel keeps for a client
NUM_PAGES = 20 * NUM_THREADS


def ask(port: int, path: str) -> int:
    """Ask for a path; the answer is how many pages wait."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERED_S)
    with contextlib.closing(connection):
        connection.request("GET", path)
        return int(connection.getresponse().read())


def listen(port: int, stack: contextlib.ExitStack, request: bytes = LISTEN):
    """Open a page that waits, and hear that it does."""
    page = connect(port, stack)
    page.sendall(request)
    assert b"hello" in heard(page, b"hello\n")
    return page


def heard(page: socket.socket, text: bytes) -> bytes:
    """Return all that a page hears until a text has come."""
    data = bytearray()
    looked_at = 0
    while data.find(text, looked_at) < 0:
        looked_at = max(0, len(data) - len(text))
        part = page.recv(1 << 20)
        assert part, data
        data += part
    return bytes(data)


class TestManyPagesThatWait:
    def test_hold_no_thread_and_hear_all_news(self, port, connections):
        pages = [listen(port, connections) for _ in range(NUM_PAGES)]

        assert is_served(port)
        assert ask(port, "/tell?first") == NUM_PAGES
        assert ask(port, "/tell?second") == NUM_PAGES

        for page in pages:
            told = heard(page, b"second\n")
            assert told.endswith(b"second\n\r\n")
        for page in pages:
            page.close()
        assert wait_for(lambda: ask(port, "/listening") == 0)

    def test_end_when_they_are_told_so(self, port, connections):
        new, old = (
            listen(port, connections, request) for request in (LISTEN, LISTEN_OLD)
        )

        assert ask(port, "/end") == 2

        assert received(new).endswith(b"bye\n\r\n0\r\n\r\n")
        assert received(old).endswith(b"bye\n")
        assert wait_for(lambda: ask(port, "/listening") == 0)

    def test_that_take_nothing_hold_up_nobody_and_hear_the_rest_later(
        self, port: int, connections: contextlib.ExitStack
    ) -> None:
        page = connections.enter_context(socket.socket())
        page.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        page.settimeout(ANSWERED_S)
        page.connect(("127.0.0.1", port))
        page.sendall(LISTEN)
        other = listen(port, connections)
        for number in range(NUM_SHOUTS):
            assert ask(port, f"/shout?{number}") == 2
            heard(other, f"\0{number}\n".encode())
        assert is_served(port)

        last = f"\0{NUM_SHOUTS - 1}\n".encode()
        assert len(heard(page, last)) > NUM_SHOUTS * 100_000
        page.close()
        other.close()
        assert wait_for(lambda: ask(port, "/listening") == 0)

    def test_whose_client_is_gone_are_let_go(self, port, connections):
        page = listen(port, connections)
        aborted = struct.pack("ii", 1, 0)
        page.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, aborted)
        page.close()

        assert wait_for(lambda: ask(port, "/listening") == 0)


class TestAServer:
    def test_gives_signs_of_life(self, impatient_port, connections):
        page = listen(impatient_port, connections)

        heard(page, b"pulse\n")
        heard(page, b"pulse\n")

    def test_that_stops_ends_what_goes_on(self, tmp_path: Path) -> None:
        with contextlib.ExitStack() as stack:
            with serving(tmp_path, PATIENCE_S) as port:
                page = listen(port, stack)

            assert received(page).endswith(b"bye\n\r\n0\r\n\r\n")

    def test_keeps_half_of_its_connections_for_requests(self, tmp_path: Path) -> None:
        options = ("--worker-connections", "8")
        with (
            serving(tmp_path, PATIENCE_S, *options) as port,
            contextlib.ExitStack() as stack,
        ):
            for _ in range(4):
                listen(port, stack)

            assert ask(port, "/listen") == 4
            assert is_served(port)
