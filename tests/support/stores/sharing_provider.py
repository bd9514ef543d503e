"""A provider of shares that answers as it is told: for what no honest server does."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from deltaweb.storage.received.budget import LookBounds
from deltaweb.storage.received.client import SharingClient
from deltaweb.storage.received.profile import Profile
from deltaweb.storage.received.transport import Transport
from tests.support.answering import answering

HERE = ("127.0.0.1",)
Respond = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """One request, answered by what the test has put at its path."""

    def answer(self) -> None:
        provider: Provider = self.server.provider  # type: ignore[attr-defined]
        path = self.path.partition("?")[0].removeprefix("/api")
        length = int(self.headers.get("Content-Length", 0))
        self.body = self.rfile.read(length)
        provider.asked.append(f"{self.command} {self.path.removeprefix('/api')}")
        provider.answers.get(path, Handler.not_found)(self)

    do_GET = do_POST = answer  # noqa: N815  # names that the base looks for

    def say(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def not_found(self) -> None:
        self.say(404, b'{"errorCode":"RESOURCE_DOES_NOT_EXIST","message":"no"}')

    def part_of_zeros(self) -> None:
        """Answer a range of a file as large as anybody says."""
        first, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
        self.say(206, bytes(int(last) + 1 - int(first)))

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@dataclass
class Provider:
    """A running server.

    Attributes:
        answers: What answers a request, by its path.
        asked: The requests that came, in order.
    """

    port: int
    answers: dict[str, Respond] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"

    @property
    def profile(self) -> Profile:
        return Profile(self.endpoint, "secret-token")

    @property
    def profile_text(self) -> str:
        return json.dumps(
            {
                "shareCredentialsVersion": 1,
                "endpoint": self.endpoint,
                "bearerToken": "secret-token",
            }
        )

    def oauth_profile(self, *, client_id: str, secret: str) -> str:
        """Return the text of a profile whose tokens come from `/token` here."""
        return json.dumps(
            {
                "shareCredentialsVersion": 2,
                "type": "oauth_client_credentials",
                "endpoint": self.endpoint,
                "tokenEndpoint": f"{self.endpoint}/token",
                "clientId": client_id,
                "clientSecret": secret,
            }
        )

    def client(self, **bounds: float) -> SharingClient:
        """Return a client for one look, within these bounds."""
        look = LookBounds(**bounds)  # type: ignore[arg-type]
        return SharingClient(self.profile, Transport(HERE), "acme", look)

    def puts(self, path: str, body: object, status: int = 200, **headers: str) -> None:
        """Answer a path with JSON, or with a line for each of a list."""
        parts = body if isinstance(body, list) else [body]
        data = b"".join(json.dumps(part).encode() + b"\n" for part in parts)
        self.answers[path] = lambda asked: asked.say(status, data, **headers)

    def lists(self, *names: str) -> None:
        """Share tables that are called `share.schema.table`."""
        parts = [name.split(".") for name in names]
        shares = dict.fromkeys(part[0] for part in parts)
        self.puts("/shares", {"items": [{"name": share} for share in shares]})
        for share in shares:
            items = [
                {"name": table, "schema": schema, "share": share}
                for of, schema, table in parts
                if of == share
            ]
            self.puts(f"/shares/{share}/all-tables", {"items": items})


@contextmanager
def provider_running() -> Iterator[Provider]:
    """Run a provider that shares nothing yet."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider = Provider(server.server_port)
    server.provider = provider  # type: ignore[attr-defined]
    with answering(server):
        yield provider
