"""Slow clients, and the others: what a web server's worker waits for, and where."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.installation import ROOT, environment, wait_for
from tests.ports import free_port

NUM_THREADS = 2
FILE_BYTES = 24 << 20
ANSWERED_S = 60  # what a request may take at most on a busy machine
# Longer than any request of a test may take: who is answered did not wait for it.
PATIENCE_S = 600
IMPATIENCE_S = 1.5
# The worker of the server, as patient as it is told, and an application that repeats
# bodies.
APPLICATION = """
import io
import os

from deltaweb import web_worker
from deltaweb.web_worker import PatientWorker

wait_s = float(os.environ["WAIT_S"])
web_worker.ARRIVAL_S = web_worker.READ_S = web_worker.SEND_S = wait_s

ended = []

class File(io.FileIO):
    def close(self):
        if not self.closed:
            ended.append(self.name)
        super().close()

def file(environ, start_response):
    path = environ["QUERY_STRING"]
    length = os.stat(path).st_size
    start_response("200 OK", [("Content-Length", str(length))])
    return environ["wsgi.file_wrapper"](File(path))

class Stream:
    may_wait = True

    def __init__(self, path):
        self.file = File(path)

    def __iter__(self):
        while part := self.file.read(100_000):
            if part.startswith(b"break"):
                raise ValueError(part)
            yield part
            yield b""

    def close(self):
        self.file.close()

def stream(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return Stream(environ["QUERY_STRING"])

def application(environ, start_response):
    if environ["PATH_INFO"] == "/file":
        return file(environ, start_response)
    if environ["PATH_INFO"] == "/stream":
        return stream(environ, start_response)
    if environ["PATH_INFO"] == "/ended":
        told = str(ended.count(environ["QUERY_STRING"])).encode()
        start_response("200 OK", [("Content-Length", str(len(told)))])
        return [told]
    body = environ["wsgi.input"].read() if environ["REQUEST_METHOD"] == "POST" else b""
    is_large = environ["PATH_INFO"] == "/large"
    parts = [bytes(1 << 20)] * 64 if is_large else [body or b"-"]
    length = ("Content-Length", str(sum(map(len, parts))))
    start_response("200 OK", [("Content-Type", "text/plain"), length])
    return iter(parts)
"""
HEAD = b"GET / HTTP/1.1\r\nHost: a\r\n"
POST = b"POST / HTTP/1.1\r\nHost: a\r\n"


@contextlib.contextmanager
def serving(home: Path, wait_s: float) -> Iterator[int]:
    """Run a server with few threads that waits as long for its clients."""
    (home / "patient_application.py").write_text(APPLICATION, encoding="utf-8")
    port = free_port()
    command = [
        *(sys.executable, "-m", "gunicorn", "patient_application:application"),
        *("--worker-class", "patient_application.PatientWorker"),
        *("--bind", f"127.0.0.1:{port}", "--threads", str(NUM_THREADS)),
        *("--log-level", "warning"),
    ]
    log = home / "web.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command,
            env=environment(home, PYTHONPATH=f"{home}:{ROOT}", WAIT_S=str(wait_s)),
            cwd=ROOT,
            stderr=errors,
        )
    try:
        assert wait_for(lambda: _answers(port), timeout_s=ANSWERED_S), log.read_text()
        yield port
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    assert "Traceback" not in log.read_text()


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Where a server listens that waits for its clients for longer than tests do."""
    with serving(tmp_path_factory.mktemp("web"), PATIENCE_S) as port:
        yield port


@pytest.fixture(scope="module")
def impatient_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Where a server listens that soon gives up on its clients."""
    with serving(tmp_path_factory.mktemp("web"), IMPATIENCE_S) as port:
        yield port


@pytest.fixture
def connections() -> Iterator[contextlib.ExitStack]:
    """Connections that are closed when the test ends."""
    with contextlib.ExitStack() as stack:
        yield stack


def _connect(port: int, stack: contextlib.ExitStack) -> socket.socket:
    address = ("127.0.0.1", port)
    return stack.enter_context(socket.create_connection(address, ANSWERED_S))


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError):
        return _is_served(port)
    return False


def _is_served(port: int) -> bool:
    """Tell whether one who is not slow gets an answer; TimeoutError if none comes."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERED_S)
    with contextlib.closing(connection):
        connection.request("GET", "/")
        return connection.getresponse().read() == b"-"


def _takes_a_byte(wire: socket.socket) -> bool:
    try:
        wire.sendall(b"a")
    except (BrokenPipeError, ConnectionResetError):
        return False
    return True


def _received(wire: socket.socket) -> bytes:
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while part := wire.recv(1 << 16):
            received += part
    return received


@pytest.mark.parametrize(
    "begun",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(HEAD, id="half a head"),
        pytest.param(POST + b"Content-Length: 9\r\n\r\nhalf", id="half a body"),
        pytest.param(
            HEAD + b"Connection: close\r\n\r\n", id="all, and never hanging up"
        ),
        pytest.param(
            HEAD + b"Transfer-Encoding: chunked\r\n\r\n1",
            id="half of chunks that nobody reads",
        ),
    ],
)
def test_those_who_send_slowly_delay_nobody(
    port: int, connections: contextlib.ExitStack, begun: bytes
) -> None:
    for _ in range(8 * NUM_THREADS):
        _connect(port, connections).sendall(begun)

    assert _is_served(port)


@pytest.mark.parametrize(
    "begun",
    [
        pytest.param(HEAD, id="a head"),
        pytest.param(POST + b"Content-Length: 999\r\n\r\n", id="a body"),
        pytest.param(POST + b"Content-Length: 99999999\r\n\r\n", id="a large body"),
    ],
)
def test_a_byte_now_and_then_does_not_hold_a_connection(
    impatient_port: int, connections: contextlib.ExitStack, begun: bytes
) -> None:
    wire = _connect(impatient_port, connections)
    wire.sendall(begun)

    assert wait_for(lambda: not _takes_a_byte(wire))


def test_those_who_do_not_read_lose_their_connection(
    impatient_port: int, connections: contextlib.ExitStack
) -> None:
    for _ in range(NUM_THREADS):
        wire = connections.enter_context(socket.socket())
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wire.connect(("127.0.0.1", impatient_port))
        wire.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        assert wire.recv(1) == b"H"  # a thread is at it

    assert _is_served(impatient_port)


class TestRequests:
    def test_may_come_in_pieces(
        self, port: int, connections: contextlib.ExitStack
    ) -> None:
        wire = _connect(port, connections)
        request = POST + b"Connection: close\r\nContent-Length: 4\r\n\r\nbody"
        for position in range(len(request)):
            wire.sendall(request[position : position + 1])

        assert _received(wire).endswith(b"\r\n\r\nbody")

    def test_may_follow_each_other_at_once(
        self, port: int, connections: contextlib.ExitStack
    ) -> None:
        wire = _connect(port, connections)
        wire.sendall(POST + b"Content-Length: 3\r\n\r\none" + POST + b"Content-")
        time.sleep(0.3)
        wire.sendall(b"Length: 3\r\nConnection: close\r\n\r\ntwo")

        received = _received(wire)

        assert received.count(b"200 OK") == 2
        assert received.endswith(b"two")

    @pytest.mark.parametrize("length", [1 << 20, 9 << 20])
    def test_may_be_large(self, port: int, length: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERED_S)
        with contextlib.closing(connection):
            connection.request("POST", "/", b"a" * length)

            assert connection.getresponse().read() == b"a" * length

    def test_may_wait_to_be_asked_for_their_body(
        self, port: int, connections: contextlib.ExitStack
    ) -> None:
        wire = _connect(port, connections)
        wire.sendall(
            POST + b"Connection: close\r\nExpect: 100-continue\r\n"
            b"Content-Length: 4\r\n\r\n"
        )
        assert wire.recv(100).startswith(b"HTTP/1.1 100 Continue")
        wire.sendall(b"body")

        assert _received(wire).endswith(b"body")

    def test_that_are_cut_short_are_not_waited_for(
        self, port: int, connections: contextlib.ExitStack
    ) -> None:
        wire = _connect(port, connections)
        wire.sendall(HEAD)
        wire.shutdown(socket.SHUT_WR)

        assert _received(wire) == b""


@pytest.fixture(params=["file", "stream"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """What no buffer of a connection holds, every part of it different.

    Its name tells how it is answered.
    """
    path = tmp_path / str(request.param)
    path.write_bytes(array("Q", range(FILE_BYTES // 8)).tobytes())
    return path


def _ask_for(
    file: Path, port: int, stack: contextlib.ExitStack
) -> http.client.HTTPResponse:
    """Ask for a file as a client that takes little at once; nothing is read yet."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERED_S)
    stack.callback(connection.close)
    connection.sock = stack.enter_context(socket.socket())
    connection.sock.settimeout(ANSWERED_S)
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.sock.connect(("127.0.0.1", port))
    connection.request("GET", _target(file))
    return connection.getresponse()


def _target(file: Path) -> str:
    return f"/{file.name}?{file}"


def _num_ended(file: Path, port: int) -> int:
    """How often the application has been told that it is done with a file."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERED_S)
    with contextlib.closing(connection):
        connection.request("GET", f"/ended?{file}")
        return int(connection.getresponse().read())


def _spoil(file: Path) -> None:
    """Let a file end too soon, and what makes a stream meet an error."""
    if file.name == "stream":
        file.write_bytes(b"break" * (FILE_BYTES // 5))
    else:
        os.truncate(file, 10)


class TestBodies:
    def test_that_nobody_takes_hold_no_thread(
        self, port: int, connections: contextlib.ExitStack, file: Path
    ) -> None:
        answers = [_ask_for(file, port, connections) for _ in range(8 * NUM_THREADS)]

        assert _is_served(port)
        assert {answer.status for answer in answers} == {200}
        assert _num_ended(file, port) == 0

    def test_come_whole_to_each_who_takes_them_in_time(
        self, port: int, connections: contextlib.ExitStack, file: Path
    ) -> None:
        answers = [_ask_for(file, port, connections) for _ in range(2 * NUM_THREADS)]
        content = file.read_bytes()

        assert all(answer.read() == content for answer in answers)
        assert wait_for(lambda: _num_ended(file, port) == len(answers))

    def test_leave_the_connection_to_the_next_request(
        self, port: int, file: Path
    ) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERED_S)
        with contextlib.closing(connection):
            for method in ("GET", "HEAD", "GET"):
                connection.request(method, _target(file))
                length = len(connection.getresponse().read())
                assert length == (0 if method == "HEAD" else FILE_BYTES)
            taken = connection.sock
            connection.request("GET", "/")
            assert connection.getresponse().read() == b"-"
            assert connection.sock is taken

    def test_of_clients_that_leave_are_ended(self, port: int, file: Path) -> None:
        for _ in range(2):
            with contextlib.ExitStack() as soon:
                _ask_for(file, port, soon)

        assert wait_for(lambda: _num_ended(file, port) == 2)

    def test_that_are_never_taken_are_ended(
        self, impatient_port: int, connections: contextlib.ExitStack, file: Path
    ) -> None:
        answer = _ask_for(file, impatient_port, connections)

        assert wait_for(lambda: _num_ended(file, impatient_port) == 1)
        with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
            answer.read()

    def test_that_cannot_be_sent_whole_end_the_connection(
        self, port: int, connections: contextlib.ExitStack, file: Path
    ) -> None:
        answer = _ask_for(file, port, connections)
        _spoil(file)

        with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
            answer.read()
