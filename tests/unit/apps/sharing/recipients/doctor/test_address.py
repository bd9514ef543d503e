"""The public address is met as a client meets it: name, certificate, proxy, clock."""

import json
import ssl
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from apps.sharing.errors import TokenUnknownError
from apps.sharing.recipients.doctor.address import (
    PublicAddress,
    address_findings,
    clock_finding,
)
from deltaweb.sharing.errors import CredentialsMissingError
from tests.support.processes.ports import free_port

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
LOCALHOST = "127.0.0.1"


class Proxy(BaseHTTPRequestHandler):
    """Answers everything alike, and remembers what it was asked."""

    status = 401
    message = TokenUnknownError.message
    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        body = json.dumps({"message": f"{self.message} And so on."}).encode()
        self.send_response_only(self.status)
        self.send_header("Date", format_datetime(NOW, usegmt=True))
        self.send_header("Location", f"http://{LOCALHOST}:1/")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def answering(tls=None, **what):
    """A server that answers so; its port, and what it was asked."""
    asked: list[str] = []
    handler = type("Handler", (Proxy,), {**what, "asked": asked})
    with ThreadingHTTPServer((LOCALHOST, 0), handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server.server_port, asked
        server.shutdown()


def examined(url: str, **more: ssl.SSLContext) -> dict[str, tuple[str, str]]:
    """The verdict and the sentences of each step."""
    address = PublicAddress(url=url, clock=lambda: NOW, **more)
    return {
        one.step: (one.verdict, f"{one.fact} {one.advice}")
        for one in address_findings(address)
    }


def test_a_server_that_knows_its_tokens_is_reached_below_its_prefix() -> None:
    with answering() as (port, asked):
        found = examined(f"http://{LOCALHOST}:{port}/prefix")

    assert asked == ["/prefix/delta-sharing/shares"]
    assert found["http"][0] == "ok"
    assert found["clock"][0] == "ok"
    assert found["dns"][0] == "warning"
    assert "Only this machine" in found["dns"][1]
    assert found["tls"][0] == "warning"


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ({"message": CredentialsMissingError.message}, "header Authorization"),
        ({"status": 302}, "redirect (302)"),
        ({"status": 502}, "does not reach this server"),
        ({"status": 404}, "Another server"),
        ({"status": 200}, "Another server"),
        ({"message": "Sign in"}, "Another server"),
    ],
)
def test_what_stands_in_the_way_is_named_and_not_followed(what, said) -> None:
    with answering(**what) as (port, asked):
        found = examined(f"http://{LOCALHOST}:{port}")

    assert len(asked) == 1
    assert found["http"][0] == "failed"
    assert said in found["http"][1]


def test_where_nothing_listens_nothing_else_is_said() -> None:
    found = examined(f"http://{LOCALHOST}:{free_port()}")

    assert found["http"][0] == "failed"
    assert found["clock"][0] == "not checked"


def test_a_name_without_an_address_ends_it() -> None:
    found = examined("https://sharing.invalid")

    assert found["dns"][0] == "failed"
    assert {found[step][0] for step in ("tls", "http", "clock")} == {"not checked"}


@pytest.mark.parametrize(
    ("skew_s", "verdict"),
    [(0, "ok"), (59, "ok"), (-60, "ok"), (-65, "warning"), (1000, "failed")],
)
def test_a_clock_that_is_off_is_told(skew_s: int, verdict: str) -> None:
    date = format_datetime(NOW + timedelta(seconds=skew_s), usegmt=True)

    assert clock_finding({"Date": date}, between=(NOW, NOW), of="x").verdict == verdict


def test_an_answer_without_a_time_is_not_checked() -> None:
    for headers in ({}, {"Date": "soon"}):
        found = clock_finding(headers, between=(NOW, NOW), of="x")
        assert found.verdict == "not checked"


def certificate(folder: Path, *, name: str, days: int) -> tuple[Path, ssl.SSLContext]:
    """A certificate of its own, and a server's context with it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "deltaweb")])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(datetime.now(UTC) - timedelta(days=2))
        .not_valid_after(datetime.now(UTC) + timedelta(days=days))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address(name))]),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{name}-{days}.pem"
    text = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(text + made.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return path, context


@pytest.mark.parametrize(
    ("name", "days", "is_trusted", "expected"),
    [
        (LOCALHOST, 90, True, ("ok", LOCALHOST)),
        (LOCALHOST, 5, True, ("warning", "Renew it")),
        (LOCALHOST, -1, True, ("failed", "expired")),
        ("192.0.2.7", 90, True, ("failed", "mismatch")),
        (LOCALHOST, 90, False, ("failed", "self-signed")),
    ],
)
def test_a_certificate_is_looked_at_as_clients_do(
    tmp_path: Path, name, days, is_trusted, expected
) -> None:
    path, context = certificate(tmp_path, name=name, days=days)
    trusted = ssl.create_default_context(cafile=path if is_trusted else None)

    with answering(context) as (port, _):
        address = PublicAddress(
            url=f"https://{LOCALHOST}:{port}",
            clock=lambda: datetime.now(UTC),
            trusted=trusted,
        )
        found = {one.step.value: one for one in address_findings(address)}

    verdict, said = expected
    assert found["tls"].verdict == verdict
    assert said in f"{found['tls'].fact} {found['tls'].advice}"
