"""An S3 server behind a proxy that passes over headers, or answers late and wrong."""

import http.client
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from tests.support.answering import answering
from tests.support.stores.s3_server import S3Server

CONDITION = re.compile(rb"<Condition>.*?</Condition>")
DROPPED = {"host", "connection", "transfer-encoding", "expect"}


@dataclass
class Faults:
    """What the proxy does wrong.

    Attributes:
        ignored_header: A header of requests that the server never sees.
        failing_puts: How many of the next conditional puts are done, and answered
            with an error all the same.
        status: That error; 0 for no answer at all.
        names_condition: Whether a put that is refused says which condition failed.
    """

    ignored_header: str = ""
    failing_puts: int = 0
    status: int = 500
    names_condition: bool = True
    lock: threading.Lock = field(default_factory=threading.Lock)

    def fails(self) -> bool:
        """Tell whether this put is to fail, and count it."""
        with self.lock:
            self.failing_puts -= 1
            return self.failing_puts >= 0


@contextmanager
def faulty(server: S3Server, faults: Faults) -> Iterator[S3Server]:
    """Run a proxy before a server on a free port of 127.0.0.1."""
    address = urlsplit(server.url)

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def relay(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            is_conditional = "If-None-Match" in self.headers
            headers = {
                name: value
                for name, value in self.headers.items()
                if name.lower() not in {*DROPPED, faults.ignored_header.lower()}
            }
            headers["Host"] = address.netloc
            back = http.client.HTTPConnection(str(address.hostname), address.port or 80)
            back.request(self.command, self.path, body, headers)
            answer = back.getresponse()
            content = answer.read()
            back.close()
            status, said = answer.status, answer.getheaders()
            if self.command == "PUT" and is_conditional and faults.fails():
                status, said, content = faults.status, [], b""
            if not faults.names_condition:
                content = CONDITION.sub(b"", content)
            if not status:
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in said:
                if name.lower() not in {*DROPPED, "content-length", "date", "server"}:
                    self.send_header(name, value)
            size = dict(said).get("Content-Length", "0")
            is_head = self.command == "HEAD"
            self.send_header("Content-Length", size if is_head else str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    for method in ("GET", "PUT", "POST", "DELETE", "HEAD"):
        setattr(Proxy, f"do_{method}", Proxy.relay)

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    proxy.daemon_threads = True
    with answering(proxy) as port:
        yield S3Server(f"http://127.0.0.1:{port}")
