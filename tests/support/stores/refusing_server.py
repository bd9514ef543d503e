"""A store that refuses every request, in the words of S3, Azure or Google."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.answering import answering
from tests.support.stores.azure_server import ACCOUNT, KEY


@dataclass
class Refusal:
    """What is answered: a status and the store's own code, and where to go instead."""

    status: int = 403
    code: str = "AccessDenied"
    message: str = "no"
    location: str = ""


@dataclass(frozen=True, slots=True)
class RefusingServer:
    """A running server."""

    port: int
    refusal: Refusal
    asked: list[str]

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def options(self, scheme: str, *, host: str = "127.0.0.1") -> dict[str, Any]:
        """What the driver of a scheme needs to reach it by a name."""
        url = f"http://{host}:{self.port}"
        if scheme == "gs":
            return {"token": "anon", "endpoint_url": url}
        if scheme == "az":
            endpoint = f"BlobEndpoint={url}/{ACCOUNT};"
            account = f"AccountName={ACCOUNT};AccountKey={KEY};"
            text = f"DefaultEndpointsProtocol=http;{account}{endpoint}"
            return {"connection_string": text}
        return {
            "key": "key",
            "secret": "hunter2",
            "client_kwargs": {"endpoint_url": url, "region_name": "us-east-1"},
            "config_kwargs": {"retries": {"max_attempts": 0}},
        }


@contextmanager
def running_refusals() -> Iterator[RefusingServer]:
    """Run a server on a free port of 127.0.0.1."""
    refusal, asked = Refusal(), list[str]()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def refuse(self) -> None:
            asked.append(self.path)
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            code, message = refusal.code, refusal.message
            if "/storage/v1/" in self.path:
                kind, error = "application/json", {"code": refusal.status}
                told = {**error, "message": f"{message}", "errors": [{"reason": code}]}
                body = json.dumps({"error": told}).encode()
            else:
                kind = "application/xml"
                said = f"<Code>{code}</Code><Message>{message}</Message>"
                body = f"<?xml version='1.0'?><Error>{said}</Error>".encode()
            self.send_response(refusal.status)
            self.send_header("Content-Type", kind)
            self.send_header("x-ms-error-code", code)
            if refusal.location:
                self.send_header("Location", refusal.location)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_HEAD = do_PUT = refuse  # noqa: N815 (names of the base)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with answering(server) as port:
        yield RefusingServer(port, refusal, asked)
