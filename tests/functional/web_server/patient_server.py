"""A server with few threads, and clients that can be slow."""

import contextlib
import http.client
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.support.processes.installation import ROOT, environment, wait_for
from tests.support.processes.ports import free_port

NUM_THREADS = 2
ANSWERED_S = 60  # what a request may take at most on a busy machine
# Longer than any request of a test may take: who is answered did not wait for it.
PATIENCE_S = 600
IMPATIENCE_S = 0.8
# The worker of the server, as patient as it is told, and an application that repeats
# bodies.
APPLICATION = """
import io
import os
import threading
import time
from pathlib import Path

from deltaweb.serving import bodies as web_bodies
from deltaweb.serving import holding as web_holding
from deltaweb.serving import worker as web_worker
from deltaweb.serving.worker import PatientWorker

web_holding.SEND_S = web_holding.PULSE_S = wait_s = float(os.environ["WAIT_S"])
web_worker.ARRIVAL_S = web_worker.SEND_S = wait_s
web_bodies.PATIENCE_S = 0.0
web_worker.RETIRE_AFTER_S = 0.0
web_worker.RETIRE_BYTES = int(os.environ["RETIRE_BYTES"])

ended = []
kept = []
listening = []

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
                raise ValueError(part[:5])
            yield part
            yield b""

    def close(self):
        self.file.close()

class Rows(Stream):
    may_wait = False

    def __iter__(self):
        threads = set()
        for part in super().__iter__():
            threads.add(threading.get_ident())
            assert len(threads) == 1
            yield part

class Page(Stream):
    may_wait = streaming = False

def stream(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    kinds = {"/stream": Stream, "/rows": Rows, "/page": Page}
    return kinds[environ["PATH_INFO"]](environ["QUERY_STRING"])

class Events:
    is_over = False

    def __init__(self):
        self.told = [b"hello\\n"]
        self.wake = lambda: None

    has_news = property(lambda self: bool(self.told))

    def attach(self, wake):
        self.wake = wake

    def take(self):
        told, self.told = b"".join(self.told), []
        return told

    def pulse(self):
        return b"pulse\\n"

    def tell(self, text):
        self.told.append(text)
        self.wake()

    def end(self):
        self.is_over = True
        self.tell(b"bye\\n")

    def close(self):
        listening.remove(self)

class GoesOn:
    def __init__(self):
        self.events = Events()
        listening.append(self.events)

    def __iter__(self):
        return iter(())

    def close(self):
        ended.append("request")

def events(environ, start_response):
    if environ["PATH_INFO"] == "/listen" and environ["deltaweb.holds_events"]:
        start_response("200 OK", [("Content-Type", "text/event-stream")])
        return GoesOn()
    count = len(listening)
    for one in list(listening):
        if environ["PATH_INFO"] == "/tell":
            one.tell(environ["QUERY_STRING"].encode() + b"\\n")
        if environ["PATH_INFO"] == "/shout":
            one.tell(bytes(100_000) + environ["QUERY_STRING"].encode() + b"\\n")
        if environ["PATH_INFO"] == "/end":
            one.end()
    told = str(count).encode()
    start_response("200 OK", [("Content-Length", str(len(told)))])
    return [told]

def held(environ):
    path = Path(environ["QUERY_STRING"])
    path.with_suffix(".begun").touch()
    while not path.exists() and not environ["deltaweb.has_left"]():
        time.sleep(0.01)
    path.with_suffix(".over").touch()

def application(environ, start_response):
    if environ["PATH_INFO"] == "/file":
        return file(environ, start_response)
    if environ["PATH_INFO"] == "/process":
        kept.extend(bytes(1) * (512 << 20) for _ in environ["QUERY_STRING"])
        told = str(os.getpid()).encode()
        start_response("200 OK", [("Content-Length", str(len(told)))])
        return [told]
    if environ["PATH_INFO"] == "/fault":
        raise ValueError("a fault")
    if environ["PATH_INFO"] in ("/listen", "/tell", "/shout", "/end", "/listening"):
        return events(environ, start_response)
    if environ["PATH_INFO"] == "/held":
        held(environ)
    if environ["PATH_INFO"] in ("/stream", "/rows", "/page"):
        return stream(environ, start_response)
    if environ["PATH_INFO"] == "/ended":
        told = str(ended.count(environ["QUERY_STRING"])).encode()
        start_response("200 OK", [("Content-Length", str(len(told)))])
        return [told]
    body = environ["wsgi.input"].read() if environ["REQUEST_METHOD"] == "POST" else b""
    body = body or b"-"
    length = ("Content-Length", str(len(body)))
    start_response("200 OK", [("Content-Type", "text/plain"), length])
    return iter([body])
"""
HEAD = b"GET / HTTP/1.1\r\nHost: a\r\n"
POST = b"POST / HTTP/1.1\r\nHost: a\r\n"


@contextlib.contextmanager
def serving(
    home: Path,
    wait_s: float,
    *options: str,
    faults: int = 0,
    retire_bytes: int = 1 << 40,
) -> Iterator[int]:
    """Run a server with few threads that waits as long for its clients.

    Args:
        home: A folder for its application and its log.
        wait_s: How long.
        options: Further options of gunicorn.
        faults: How often its application fails.
        retire_bytes: Of memory, from which on another process takes its place.
    """
    (home / "patient_application.py").write_text(APPLICATION, encoding="utf-8")
    port = free_port()
    command = [
        *(sys.executable, "-m", "gunicorn", "patient_application:application"),
        *("--worker-class", "patient_application.PatientWorker"),
        *("--bind", f"127.0.0.1:{port}", "--threads", str(NUM_THREADS)),
        *("--log-level", "warning", "--no-control-socket", *options),
    ]
    variables = {
        "PYTHONPATH": f"{home}:{ROOT}",
        "WAIT_S": str(wait_s),
        "RETIRE_BYTES": str(retire_bytes),
    }
    log = home / "web.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command, env=environment(home, **variables), cwd=ROOT, stderr=errors
        )
    try:
        assert wait_for(lambda: _answers(port), timeout_s=ANSWERED_S), log.read_text()
        yield port
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    assert log.read_text().count("Traceback") == faults


def connect(port: int, stack: contextlib.ExitStack) -> socket.socket:
    """Open a connection that the stack closes."""
    address = ("127.0.0.1", port)
    return stack.enter_context(socket.create_connection(address, ANSWERED_S))


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError):
        return is_served(port)
    return False


def is_served(port: int) -> bool:
    """Tell whether one who is not slow gets an answer; TimeoutError if none comes."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERED_S)
    with contextlib.closing(connection):
        connection.request("GET", "/")
        return connection.getresponse().read() == b"-"


def process_of(port: int, query: str = "") -> int:
    """Ask which process answers; each letter of a query makes it keep memory."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERED_S)
    with contextlib.closing(connection):
        connection.request("GET", f"/process?{query}")
        return int(connection.getresponse().read())


def received(wire: socket.socket) -> bytes:
    """Return all that comes until the server hangs up."""
    data = b""
    with contextlib.suppress(ConnectionResetError):
        while part := wire.recv(1 << 16):
            data += part
    return data
