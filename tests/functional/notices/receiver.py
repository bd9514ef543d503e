"""A receiver of webhooks, which keeps what it gets."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from standardwebhooks.webhooks import Webhook as Verifier


@dataclass
class Receiver:
    """A server on this machine.

    Attributes:
        status: The status of the answers.
        answer: Their body.
        wait: Called between an event and its answer.
    """

    url: str = ""
    status: int = 204
    answer: bytes = b""
    wait: Callable[[], object] = lambda: None
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @classmethod
    @contextmanager
    def running(cls, host: str = "127.0.0.1") -> Iterator["Receiver"]:
        one = cls()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                one.bodies.append(self.rfile.read(length))
                one.headers.append(dict(self.headers))
                one.wait()
                self.send_response(one.status)
                if 300 <= one.status < 400:
                    self.send_header("Location", f"{one.url}/elsewhere")
                self.send_header("Content-Length", str(len(one.answer)))
                self.end_headers()
                with suppress(OSError):  # nobody reads it to its end
                    self.wfile.write(one.answer)

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer((host, 0), Handler)
        one.url = f"http://{host}:{server.server_port}/hook"
        Thread(target=server.serve_forever, daemon=True).start()
        yield one
        server.shutdown()
        server.server_close()

    def events(self) -> list[dict[str, Any]]:
        """Return the events that arrived."""
        return [json.loads(body) for body in self.bodies]

    def verified(self, secret: str) -> list[dict[str, Any]]:
        """Return the events, checked with the library of the standard."""
        return [
            Verifier(secret).verify(body, headers)
            for body, headers in zip(self.bodies, self.headers, strict=True)
        ]
