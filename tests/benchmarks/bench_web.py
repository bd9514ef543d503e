"""The web server beside waitress: `python -m tests.benchmarks web`.

Both run in one process with as many threads and the same application. First they
answer in turn (A B A B) to those who take what they are sent; then slow clients come
and stay, and one who is not slow asks for a page meanwhile.
"""

import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread

from tests.benchmarks.web_application import NUM_PARTS, PAGE, PART_BYTES
from tests.support.processes.installation import wait_for
from tests.support.processes.ports import free_port

NUM_THREADS = 8
NUM_CLIENTS = 8
REQUESTS_A_CLIENT = 250
DOWNLOADS_A_CLIENT = 4
ROUNDS = 5
PAGES_MEANWHILE = 20
GIVEN_UP_S = 10.0
PAGE_GOAL_MS = 1000.0
CPU_GOAL_MS = {"/": 1.0, "/file": 25.0, "/stream": 50.0}  # of an answer
NUM_DESCRIPTORS = 8192

HEAD = b"GET / HTTP/1.1\r\nHost: a\r\n"
POST = b"POST / HTTP/1.1\r\nHost: a\r\n"
LARGE_LENGTH = b"Content-Length: 99999999\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
EXPECTS = b"Expect: 100-continue\r\nContent-Length: 9\r\n\r\n"
SLOW_CLIENTS = {
    "200 with half a head": (200, HEAD),
    "200 with half a body": (200, POST + b"Content-Length: 99999\r\n\r\nhalf"),
    "64 with a body too large": (64, POST + LARGE_LENGTH),
    "64 with chunks that never come": (64, POST + CHUNKED),
    "64 that wait to be asked": (64, POST + EXPECTS),
    "64 that take no file": (64, b"GET /file HTTP/1.1\r\nHost: a\r\n\r\n"),
    "64 that take no stream": (64, b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"),
    "2,000 that say nothing": (2000, b""),
}


@dataclass(frozen=True)
class Server:
    """A running server."""

    name: str
    port: int
    process: "subprocess.Popen[bytes]"

    def cpu_s(self) -> float:
        """Return the processor time that it has used, all its processes together."""
        ticks = 0
        children = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        below = Path(children).read_text(encoding="ascii").split()
        for pid in (str(self.process.pid), *below):
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
            ticks += sum(int(f) for f in stat.rpartition(")")[2].split()[11:13])
        return ticks / os.sysconf("SC_CLK_TCK")

    def page_s(self) -> float:
        """Return how long a page takes; `GIVEN_UP_S` when none comes in that time."""
        start = time.perf_counter()
        connection = HTTPConnection("127.0.0.1", self.port, timeout=GIVEN_UP_S)
        try:
            connection.request("GET", "/")
            connection.getresponse().read()
        except OSError:
            return GIVEN_UP_S
        finally:
            connection.close()
        return time.perf_counter() - start


def main() -> None:
    """Run both servers, and print how they do."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(NUM_DESCRIPTORS, most) if most >= 0 else NUM_DESCRIPTORS
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as folder:
        file = Path(folder) / "file"
        file.write_bytes(bytes(NUM_PARTS * PART_BYTES))
        with _own(file) as own, _waitress(file) as peer:
            _measure_throughput((own, peer), "/", REQUESTS_A_CLIENT, len(PAGE))
            for path in ("/file", "/stream"):
                length = NUM_PARTS * PART_BYTES
                _measure_throughput((own, peer), path, DOWNLOADS_A_CLIENT, length)
        for name, (count, begun) in SLOW_CLIENTS.items():
            with _own(file) as own, _waitress(file) as peer:
                _measure_patience((own, peer), name, count, begun)


# === Servers ===


@contextmanager
def _own(file: Path) -> Iterator[Server]:
    port = free_port()
    command = [
        *(sys.executable, "-m", "gunicorn"),
        "tests.benchmarks.web_application:application",
        *("--worker-class", "deltaweb.serving.worker.PatientWorker"),
        *("--bind", f"127.0.0.1:{port}", "--threads", str(NUM_THREADS)),
        *("--worker-connections", "4000", "--log-level", "error"),
    ]
    with _running("own", port, command, file) as server:
        yield server


@contextmanager
def _waitress(file: Path) -> Iterator[Server]:
    port = free_port()
    module = ("-m", "tests.benchmarks.web_application")
    command = [sys.executable, *module, str(port), str(NUM_THREADS)]
    with _running("waitress", port, command, file) as server:
        yield server


@contextmanager
def _running(name: str, port: int, command: list[str], file: Path) -> Iterator[Server]:
    environment = {**os.environ, "BENCH_FILE": str(file)}
    process = subprocess.Popen(command, env=environment)
    server = Server(name, port, process)
    try:
        if not wait_for(lambda: server.page_s() < GIVEN_UP_S):
            message = f"{name} does not answer"
            raise SystemExit(message)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(GIVEN_UP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


# === Those who take what they are sent ===


def _measure_throughput(servers, path, count, length):
    """Print what both answer a second, and in a second of processor time."""
    rates: dict[str, list[tuple[float, float]]] = {s.name: [] for s in servers}
    for _ in range(ROUNDS):
        for server in servers:
            rates[server.name].append(_rates(server, path, count, length))
    wall, cpu = (
        [statistics.median(rate[kind] for rate in rates[s.name]) for s in servers]
        for kind in (0, 1)
    )
    own_ms, peer_ms = (1000 / rate for rate in cpu)
    better = servers[0 if own_ms <= peer_ms else 1].name
    verdict = "ok  " if own_ms < CPU_GOAL_MS[path] else "MISS"
    print(
        f"{verdict} CPU of an answer to {path:27} {own_ms:8.2f} ms,"
        f" goal {CPU_GOAL_MS[path]:.0f} ms; waitress {peer_ms:.2f} ms;"
        f" {wall[0]:,.0f}/s, waitress {wall[1]:,.0f}/s; better: {better}",
        flush=True,
    )


def _rates(server: Server, path: str, count: int, length: int) -> tuple[float, float]:
    received: list[int] = []

    def ask() -> None:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=600)
        for _ in range(count):
            connection.request("GET", path)
            received.append(len(connection.getresponse().read()))
        connection.close()

    clients = [Thread(target=ask) for _ in range(NUM_CLIENTS)]
    used, start = server.cpu_s(), time.perf_counter()
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    if received != [length] * (count * NUM_CLIENTS):
        message = f"{server.name} did not answer {path} whole"
        raise SystemExit(message)
    seconds = time.perf_counter() - start
    used_s = max(server.cpu_s() - used, 0.01)
    return len(received) / seconds, len(received) / used_s


# === Those who do not ===


def _measure_patience(servers, name, count, begun):
    """Print how long a page takes while clients are slow."""
    own, peer = (_page_ms(server, count, begun) for server in servers)
    verdict = "ok  " if own[1] < PAGE_GOAL_MS else "MISS"
    print(
        f"{verdict} a page beside {name:32} {own[0]:8.1f} ms, worst {own[1]:8.1f} ms,"
        f" goal {PAGE_GOAL_MS:.0f} ms;"
        f" waitress {peer[0]:.1f} ms, worst {peer[1]:.1f} ms",
        flush=True,
    )


def _page_ms(server: Server, count: int, begun: bytes) -> tuple[float, float]:
    """Return the median and the worst time of a page; a stalled server once."""
    with ExitStack() as stack:
        for _ in range(count):
            client = stack.enter_context(socket.socket())
            client.settimeout(GIVEN_UP_S)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            try:
                client.connect(("127.0.0.1", server.port))
                client.sendall(begun)
            except OSError:
                return GIVEN_UP_S * 1000, GIVEN_UP_S * 1000
        time.sleep(1.0)  # until the server has taken them
        times: list[float] = []
        for _ in range(PAGES_MEANWHILE):
            times.append(server.page_s() * 1000)
            if times[-1] >= GIVEN_UP_S * 1000:
                break
        return statistics.median(times), max(times)
