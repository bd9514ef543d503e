"""What makes credentials for a while, as far as a test says what it answers."""

import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from tests.support.answering import answering


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    path: str
    authorization: str
    body: bytes
    headers: Message

    @property
    def json(self) -> Any:  # noqa: ANN401 (whatever was sent)
        """Its body, where that is JSON."""
        return json.loads(self.body)

    @property
    def form(self) -> dict[str, str]:
        """Its body, where that is a form."""
        return {name: found[0] for name, found in parse_qs(self.body.decode()).items()}


@dataclass
class TokenService:
    """A running service.

    Attributes:
        answer: What is answered to a request: a status, headers and a body; the body is
            sent as JSON where it is no bytes.
        asked: What was asked so far.
    """

    answer: Callable[[Asked], tuple[int, dict[str, str], Any]]
    url: str = ""
    asked: list[Asked] = field(default_factory=list)


@contextmanager
def running_token_service(
    answer: Callable[[Asked], tuple[int, dict[str, str], Any]],
    *,
    certificate: Path | None = None,
) -> Iterator[TokenService]:
    """Serve on a free port of 127.0.0.1.

    Args:
        answer: See `TokenService`.
        certificate: From `new_certificate`, where https is spoken.
    """
    service = TokenService(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            asked = Asked(
                self.path,
                self.headers.get("Authorization", ""),
                self.rfile.read(length),
                self.headers,
            )
            service.asked.append(asked)
            status, headers, body = service.answer(asked)
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            kind = "application/xml" if isinstance(body, bytes) else "application/json"
            self.send_response(status)
            said = {"Content-Type": kind, "Content-Length": str(len(data)), **headers}
            for name, value in said.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def do_POST(self) -> None:
            self.do_GET()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    scheme = "https" if certificate else "http"
    service.url = f"{scheme}://127.0.0.1:{server.server_port}"
    with answering(server):
        yield service


def new_certificate(folder: Path) -> Path:
    """Write a certificate of 127.0.0.1 that vouches for itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
    now = datetime.now(UTC)
    address = x509.IPAddress(IPv4Address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return file


def google_key(key: rsa.RSAPrivateKey, token_url: str) -> dict[str, str]:
    """Return the key of a service account, as Google gives it out."""
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return {
        "type": "service_account",
        "client_email": "reader@project.iam.gserviceaccount.com",
        "private_key": private.decode(),
        "token_uri": token_url,
    }
