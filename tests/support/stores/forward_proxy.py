"""A proxy that forwards requests and tunnels, and keeps what it was asked for."""

import contextlib
import select
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.answering import answering


@dataclass
class ForwardProxy:
    """A running proxy.

    Attributes:
        places: The port of 127.0.0.1 to go to, by the host that is asked for.
        asked: The method and target of each request.
        proofs: The value of `Proxy-Authorization` of each.
    """

    places: Mapping[str, int]
    url: str = ""
    asked: list[str] = field(default_factory=list)
    proofs: list[str | None] = field(default_factory=list)


class _Handler(BaseHTTPRequestHandler):
    def do_CONNECT(self) -> None:
        host = self._note().rpartition(":")[0]
        with socket.create_connection(("127.0.0.1", self.proxy.places[host])) as other:
            self.send_response(200)
            self.end_headers()
            both = {self.connection: other, other: self.connection}
            with contextlib.suppress(OSError):
                while ready := select.select(list(both), [], [], 5)[0]:
                    for one in ready:
                        if not (data := _received(one)):
                            return
                        both[one].sendall(data)

    def do_GET(self) -> None:
        parts = urlsplit(self._note())
        port = self.proxy.places[parts.hostname or ""]
        connection = HTTPConnection("127.0.0.1", port)
        with contextlib.closing(connection):
            connection.request("GET", f"{parts.path}?{parts.query}")
            answer = connection.getresponse()
            body = answer.read()
        self.send_response(answer.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @property
    def proxy(self) -> ForwardProxy:
        return self.server.proxy  # type: ignore[attr-defined]

    def _note(self) -> str:
        self.proxy.asked.append(f"{self.command} {self.path}")
        self.proxy.proofs.append(self.headers["Proxy-Authorization"])
        return self.path

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _received(connection: socket.socket) -> bytes:
    """Return what has come, also what TLS holds where `select` does not see it."""
    data = connection.recv(1 << 16)
    while isinstance(connection, ssl.SSLSocket) and connection.pending():
        data += connection.recv(1 << 16)
    return data


@contextmanager
def forward_proxy(
    places: Mapping[str, int], *, certificate: Path | None = None
) -> Iterator[ForwardProxy]:
    """Run a proxy on a free port of 127.0.0.1.

    Args:
        places: See `ForwardProxy`.
        certificate: From `new_certificate`, where the proxy itself speaks https.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    scheme = "https" if certificate else "http"
    proxy = ForwardProxy(places, f"{scheme}://127.0.0.1:{server.server_port}")
    server.proxy = proxy  # type: ignore[attr-defined]
    with answering(server):
        yield proxy
