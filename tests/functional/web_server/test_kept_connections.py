"""Connections that clients keep open between requests, as a proxy with a pool does.

The server is `deltaweb web`, and all that is known of it is what it answers.
"""

import contextlib
import shlex
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from deltaweb.settings import KEEP_ALIVE_S
from tests.functional.web_server.patient_server import (
    HEAD,
    PATIENCE_S,
    connect,
    is_served,
    received,
)
from tests.functional.web_server.patient_server import serving as serving_patiently
from tests.support.processes.installation import Installation, migrate, serving

WEB: Final = (sys.executable, "-m", "deltaweb", "web")
REQUEST: Final = b"GET /delta-sharing/shares HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
ANSWER: Final = b"HTTP/1.1 401 "
FEW_S: Final = 3
FEW_FILES: Final = 512  # of which a part is for connections
MANY: Final = 400
NUM_LAST: Final = 8
USUAL_S: Final = 75  # that proxies keep an idle connection


@contextlib.contextmanager
def web(home: Path, line: tuple[str, ...] = WEB, **variables: Any) -> Iterator[int]:  # noqa: ANN401 (as `serving` takes them)
    migrate(home)
    variables["DELTAWEB_WEB_PROCESSES"] = "1"
    with serving(home, ready=503, line=line, WORKERS="0", **variables) as installation:
        yield port_of(installation)


def port_of(installation: Installation) -> int:
    return int(installation.url.rpartition(":")[2])


def ask(wire: socket.socket) -> bool:
    """Send a request; tell whether its whole answer came, and the wire stays open."""
    try:
        wire.sendall(REQUEST)
        answer = b""
        while b"}" not in answer:
            if not (part := wire.recv(1 << 16)):
                return False
            answer += part
    except ConnectionError:
        return False
    return answer.startswith(ANSWER) and b"Connection: close" not in answer


def test_the_usual_time_is_longer_than_that_of_proxies() -> None:
    assert KEEP_ALIVE_S == settings.KEEP_ALIVE_S > USUAL_S


def test_an_idle_connection_is_used_again_for_as_long_as_the_setting_says(
    tmp_path: Path, connections: contextlib.ExitStack
) -> None:
    long, short = tmp_path / "long", tmp_path / "short"
    for home in (long, short):
        home.mkdir()
    with web(long) as port, web(short, DELTAWEB_KEEP_ALIVE_S=str(FEW_S)) as brief:
        kept, dropped = connect(port, connections), connect(brief, connections)
        assert ask(kept)
        assert ask(dropped)

        assert received(dropped) == b""  # after three seconds
        assert ask(kept)
        connections.close()


def test_many_idle_connections_leave_room_for_new_ones(
    tmp_path: Path, connections: contextlib.ExitStack
) -> None:
    limited = f"ulimit -n {FEW_FILES} && exec {shlex.join(WEB)}"

    with web(tmp_path, ("sh", "-c", limited)) as port:
        wires: list[socket.socket] = []
        for _ in range(MANY):
            wires.append(connect(port, connections))
            assert ask(wires[-1])

        assert all(map(ask, wires[-NUM_LAST:]))
        assert received(wires[0]) == b""
        connections.close()


def test_idle_connections_make_room_before_a_request_that_is_on_its_way(
    tmp_path: Path, connections: contextlib.ExitStack
) -> None:
    options = ("--worker-connections", "16", "--keep-alive", str(PATIENCE_S))
    with serving_patiently(tmp_path, PATIENCE_S, *options) as port:
        slow = connect(port, connections)
        slow.sendall(HEAD)
        for _ in range(64):
            idle = connect(port, connections)
            idle.sendall(HEAD + b"\r\n")
            assert idle.recv(1)
        slow.sendall(b"Connection: close\r\n\r\n")

        assert received(slow).endswith(b"-")
        assert is_served(port)
        connections.close()
