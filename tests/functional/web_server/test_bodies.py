"""Answers as their clients take them: files, streams, pages and rows."""

import contextlib
import http.client
import os
import socket
from array import array
from pathlib import Path

import pytest

from tests.functional.web_server.patient_server import (
    ANSWERED_S,
    NUM_THREADS,
    is_served,
)
from tests.support.processes.installation import wait_for

FILE_BYTES = 9 << 20


@pytest.fixture(params=["file", "stream"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """What no buffer of a connection holds, every part of it different.

    Its name tells how it is answered: as it is, or by parts that any thread may make.
    """
    return _written(tmp_path, request)


@pytest.fixture(params=["file", "stream", "rows", "page"])
def any_file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The same; rows are made by one thread alone, a page before it is sent."""
    return _written(tmp_path, request)


def _written(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / str(request.param)
    path.write_bytes(array("Q", range(FILE_BYTES // 8)).tobytes())
    return path


def _ask_for(file: Path, port: int, stack: contextlib.ExitStack):
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
        with file.open("r+b") as spoilt:  # never empty, which would be its end
            spoilt.write(b"break" * (FILE_BYTES // 5))
    else:
        os.truncate(file, 10)


class TestBodies:
    def test_that_nobody_takes_hold_no_thread(self, port, connections, any_file):
        answers = [
            _ask_for(any_file, port, connections) for _ in range(8 * NUM_THREADS)
        ]

        assert is_served(port)
        assert {answer.status for answer in answers} == {200}

    def test_that_nobody_takes_are_not_ended(self, port, connections, file):
        _ask_for(file, port, connections)

        assert _num_ended(file, port) == 0

    def test_come_whole_to_each_who_takes_them_in_time(
        self, port: int, connections: contextlib.ExitStack, any_file: Path
    ) -> None:
        answers = [
            _ask_for(any_file, port, connections) for _ in range(2 * NUM_THREADS)
        ]
        content = any_file.read_bytes()

        assert all(answer.read() == content for answer in answers)
        assert wait_for(lambda: _num_ended(any_file, port) == len(answers))

    def test_leave_the_connection_to_the_next_request(self, port: int, any_file: Path):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERED_S)
        with contextlib.closing(connection):
            for method in ("GET", "HEAD", "GET"):
                connection.request(method, _target(any_file))
                length = len(connection.getresponse().read())
                assert length == (0 if method == "HEAD" else FILE_BYTES)
            taken = connection.sock
            connection.request("GET", "/")
            assert connection.getresponse().read() == b"-"
            assert connection.sock is taken

    def test_of_clients_that_leave_are_ended(self, port: int, any_file: Path) -> None:
        for _ in range(2):
            with contextlib.ExitStack() as soon:
                _ask_for(any_file, port, soon)

        assert wait_for(lambda: _num_ended(any_file, port) == 2)

    def test_that_are_never_taken_are_ended(self, impatient_port, connections, file):
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
