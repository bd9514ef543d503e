"""Those who are slow, and the others: what a web server's worker waits for."""

import contextlib
import http.client
import socket

from tests.functional.web_server.patient_server import (
    ANSWERED_S,
    HEAD,
    PATIENCE_S,
    POST,
    connect,
    is_served,
    serving,
)
from tests.support import cases
from tests.support.processes.installation import wait_for

NUM_SLOW = 64


def _refused(wire: socket.socket) -> bool:
    """Whether a server had no room for a request."""
    try:
        return wire.recv(100).startswith(b"HTTP/1.1 503 ")
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


def _takes_a_byte(wire: socket.socket) -> bool:
    try:
        wire.sendall(b"a")
    except (BrokenPipeError, ConnectionResetError):
        return False
    return True


@cases(
    "begun",
    {
        "nothing": b"",
        "half a head": HEAD,
        "half a body": POST + b"Content-Length: 9\r\n\r\nhalf",
        "all, and never hanging up": HEAD + b"Connection: close\r\n\r\n",
        "half of chunks that nobody reads": HEAD
        + b"Transfer-Encoding: chunked\r\n\r\n1",
        "no chunk at all": POST + b"Transfer-Encoding: chunked\r\n\r\n",
        "half a chunk": POST + b"Transfer-Encoding: chunked\r\n\r\nff\r\nhalf",
        "no large body": POST + b"Content-Length: 99999999\r\n\r\n",
        "no body, though asked for it": POST
        + b"Expect: 100-continue\r\nContent-Length: 9\r\n\r\n",
    },
)
def test_those_who_send_slowly_delay_nobody(port, connections, begun):
    for _ in range(NUM_SLOW):
        connect(port, connections).sendall(begun)

    assert is_served(port)


@cases(
    "begun",
    {
        "a head": HEAD,
        "a body": POST + b"Content-Length: 999\r\n\r\n",
        "a chunk": POST + b"Transfer-Encoding: chunked\r\n\r\nffff\r\n",
    },
)
def test_a_byte_now_and_then_does_not_hold_a_connection(
    impatient_port: int, connections: contextlib.ExitStack, begun: bytes
) -> None:
    wire = connect(impatient_port, connections)
    wire.sendall(begun)

    assert wait_for(lambda: not _takes_a_byte(wire))


def test_more_than_fit_leave_the_last_a_place(tmp_path, connections):
    limit = ("--worker-connections", "16")
    with serving(tmp_path, PATIENCE_S, *limit) as port:
        for _ in range(64):
            connect(port, connections)

        assert is_served(port)
        connections.close()


def test_large_bodies_that_never_end_leave_room_for_others(port, connections):
    half = POST + b"Content-Length: 4194304\r\n\r\n" + bytes(4 << 20)
    wires = [connect(port, connections) for _ in range(20)]
    for wire in wires:
        with contextlib.suppress(ConnectionError):
            wire.sendall(half[:-60])

    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERED_S)
    with contextlib.closing(connection):
        connection.request("POST", "/", b"a" * (1 << 20))
        assert connection.getresponse().read() == b"a" * (1 << 20)
    for wire in wires:
        wire.settimeout(0)
    refused = [_refused(wire) for wire in wires]
    assert any(refused)
    assert not all(refused)
