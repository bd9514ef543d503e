"""An OIDC issuer of this process: its documents, as its keys are by now."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from joserfc.jwk import KeySet, RSAKey

from tests.support.answering import answering


@dataclass
class LocalIssuer:
    """Keys, and how often they were asked for."""

    url: str
    keys: list[RSAKey] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    discovery: dict[str, Any] = field(default_factory=dict)

    def document(self, path: str) -> object:
        """What stands at a path."""
        self.asked.append(path)
        if path == "/.well-known/openid-configuration":
            found = {"issuer": self.url, "jwks_uri": f"{self.url}/jwks"}
            return found | self.discovery
        return KeySet([*self.keys]).as_dict(private=False)


@contextmanager
def running_issuer() -> Iterator[LocalIssuer]:
    """Serve its documents on a free port of 127.0.0.1."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(issuer.document(self.path)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer = LocalIssuer(f"http://127.0.0.1:{server.server_port}")
    with answering(server):
        yield issuer
