"""The loop of a web process, one batch of events at a time."""

import contextlib
import logging
import os
import socket
import sys
from collections.abc import Iterator
from selectors import EVENT_READ, DefaultSelector
from typing import Any
from wsgiref.types import StartResponse

import pytest
from gunicorn.config import Config

from deltaweb.serving.connections import Connection
from deltaweb.serving.requests import Arrival
from deltaweb.serving.worker import PatientWorker

HALF = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\nhalf"


class ArrivalThatFails(Arrival):
    """What nobody has thought of."""

    def take_in(self, data: bytes) -> bool:
        """Fail."""
        del data
        message = "a fault"
        raise ValueError(message)


class Log(logging.LoggerAdapter[logging.Logger]):
    """A log as gunicorn's, which is told of every answer besides."""

    def access(self, *_: object) -> None:
        """Keep nothing of it."""


def answer(environ: dict[str, Any], start_response: StartResponse) -> list[bytes]:
    """Answer, or end the thread."""
    if environ["PATH_INFO"] == "/exit":
        sys.exit("a fault")
    start_response("200 OK", [("Content-Length", "1")])
    return [b"-"]


class Loop:
    """A worker with few connections whose batches a test makes."""

    def __init__(self, stack: contextlib.ExitStack, *, num_connections: int) -> None:
        self._stack = stack
        self.listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        config = Config()
        config.set("worker_connections", num_connections)
        config.set("threads", 1)
        log = Log(logging.getLogger("tests.web"))
        self.worker = PatientWorker(
            1, os.getppid(), [self.listener], None, 30, config, log
        )
        stack.callback(self.worker.tmp.close)
        self.worker.poller = stack.enter_context(DefaultSelector())
        self.worker.tpool = stack.enter_context(self.worker.get_thread_pool())
        self.worker.method_queue.init()
        stack.callback(self.worker.method_queue.close)
        queue = self.worker.method_queue
        self.worker.poller.register(queue.fileno(), EVENT_READ, queue.run_callbacks)
        stack.callback(self._close)
        self.worker.set_accept_enabled(True)
        self.worker.wsgi = answer

    def _close(self) -> None:
        for conn in [*self.worker.waiting, *self.worker.keepalived_conns]:
            conn.close()

    def connect(self) -> socket.socket:
        """Let a client connect; the loop has not heard of it yet."""
        address = self.listener.getsockname()
        return self._stack.enter_context(socket.create_connection(address))

    def take_connection(self) -> tuple[socket.socket, Connection]:
        """Let a client connect; return both ends, the loop waiting for its request."""
        client = self.connect()
        self.dispatch()
        return client, next(reversed(self.worker.waiting))

    def dispatch(self) -> None:
        """Handle one batch of events."""
        self.worker.wait_for_and_dispatch_events(5.0)

    @property
    def num_watched(self) -> int:
        """How many connections have events, beside listener and queue."""
        return len(self.worker.poller.get_map()) - 2


@pytest.fixture
def stack() -> Iterator[contextlib.ExitStack]:
    """What is closed when the test ends."""
    with contextlib.ExitStack() as stack:
        yield stack


class TestABatch:
    @pytest.mark.parametrize("is_kept", [False, True], ids=["new", "kept open"])
    @pytest.mark.parametrize("leaves_first", [False, True])
    def test_may_close_a_connection_before_its_own_event_comes(
        self, stack: contextlib.ExitStack, *, leaves_first: bool, is_kept: bool
    ) -> None:
        loop = Loop(stack, num_connections=2)
        client, conn = loop.take_connection()
        if is_kept:
            client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            while not loop.worker.keepalived_conns:
                loop.dispatch()

        steps = [client.close, loop.connect]
        for step in steps if leaves_first else reversed(steps):
            step()
        loop.dispatch()

        assert conn.sock.fileno() == -1
        assert loop.worker.nr_conns == loop.num_watched == 1
        loop.take_connection()

    def test_gives_no_event_to_the_next_connection_of_the_same_number(self, stack):
        loop = Loop(stack, num_connections=3)
        first, first_conn = loop.take_connection()
        second, second_conn = loop.take_connection()
        number = second_conn.sock.fileno()

        def close_the_second(client: socket.socket) -> None:
            del client
            second_conn.deadline = 0.0
            loop.worker.murder_pending()
            loop.worker.accept(loop.listener)

        loop.worker.poller.modify(first_conn.sock, EVENT_READ, close_the_second)
        loop.worker.set_accept_enabled(False)
        first.sendall(HALF)
        second.sendall(HALF)
        loop.connect()
        loop.dispatch()

        third_conn = next(reversed(loop.worker.waiting))
        assert third_conn.sock.fileno() == number
        assert not third_conn.arrival.data


def faults_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was raised and logged."""
    return [repr(one.exc_info[1]) for one in caplog.records if one.exc_info]


class TestAConnectionThatFails:
    @pytest.fixture
    def loop(self, stack: contextlib.ExitStack) -> Loop:
        return Loop(stack, num_connections=8)

    def test_is_closed_alone_and_told(self, loop, caplog):
        client, conn = loop.take_connection()
        _, other = loop.take_connection()
        conn.arrival = ArrivalThatFails()

        client.sendall(HALF)
        loop.dispatch()

        assert conn.sock.fileno() == -1
        assert loop.worker.nr_conns == loop.num_watched == 1
        assert other.sock.fileno() > 0
        assert "A connection failed and was closed" in caplog.text
        assert faults_of(caplog) == ["ValueError('a fault')"]

    def test_in_a_thread_is_closed_and_told(self, loop, caplog):
        client, conn = loop.take_connection()

        client.sendall(b"GET /exit HTTP/1.1\r\nHost: a\r\n\r\n")
        while loop.worker.nr_conns:
            loop.dispatch()

        assert conn.sock.fileno() == -1
        assert loop.num_watched == 0
        assert faults_of(caplog) == ["SystemExit('a fault')"]

    def test_gives_back_what_was_kept_of_its_request(self, loop: Loop) -> None:
        client, conn = loop.take_connection()
        client.sendall(HALF)
        loop.dispatch()
        assert loop.worker.kept_bytes == len(HALF)

        conn.deadline = 0.0
        loop.worker.murder_pending()

        assert loop.worker.kept_bytes == 0
        assert loop.worker.nr_conns == 0
