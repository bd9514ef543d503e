"""The public address as everybody meets it: its name, certificate, proxy and clock.

Nothing but the address of the settings is asked, and no redirect is followed.
"""

import ipaddress
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from apps.sharing.errors import TokenUnknownError
from apps.sharing.issuing.tokens import MARK
from apps.sharing.recipients.doctor.findings import Finding, Verdict
from deltaweb.delta.errors import DeltaError
from deltaweb.environment.bounded_json import parse_json
from deltaweb.sharing.client_errors import Step
from deltaweb.sharing.errors import CredentialsMissingError
from deltaweb.storage.objects.hosts import is_public
from deltaweb.storage.received.patience import HTTPRequest
from deltaweb.storage.received.transport import HTTPAnswer, Transport

TIMEOUT_S: Final = 5.0
MAX_ANSWER_BYTES: Final = 1 << 20
CERTIFICATE_SOON: Final = timedelta(days=21)
SKEW_NOTED: Final = timedelta(seconds=60)
SKEW_REFUSED: Final = timedelta(seconds=900)  # stores refuse signatures from here on
SETTING: Final = "DELTAWEB_PUBLIC_URL"
_PORTS: Final = {"http": 80, "https": 443}
# Nobody's token: a server that knows none of this name has read the header.
_NOBODY: Final = f"{MARK}{'0' * 8}{'x' * 43}"

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicAddress:
    """The address of the settings, and how it is asked.

    Attributes:
        url: `DELTAWEB_PUBLIC_URL`.
        clock: Tells the current time.
        trusted: Certificates of authorities, beside those of the machine.
    """

    url: str
    clock: Clock
    trusted: ssl.SSLContext = field(default_factory=ssl.create_default_context)

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        parts = urlsplit(self.url)
        return parts.port or _PORTS.get(parts.scheme, 0)

    @property
    def is_tls(self) -> bool:
        return urlsplit(self.url).scheme == "https"


def address_findings(address: PublicAddress) -> Iterator[Finding]:
    """Yield what the steps up to the first answer of this server find."""
    name = _name(address)
    yield name
    if name.verdict == Verdict.FAILED:
        for step in (Step.TLS, Step.HTTP, Step.CLOCK):
            yield Finding(
                step=step,
                verdict=Verdict.NOT_CHECKED,
                subject=address.host,
                fact="The address has no known host.",
            )
        return
    yield _certificate(address)
    yield from _answer(address)


# === Its name ===


def _name(address: PublicAddress) -> Finding:
    found = partial(Finding, step=Step.DNS, subject=address.host)
    try:
        infos = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return found(
            verdict=Verdict.FAILED,
            fact=f"The name {address.host} has no address.",
            advice=f"Correct {SETTING}, or the DNS entry of the name.",
        )
    texts = list(dict.fromkeys(str(info[4][0]).partition("%")[0] for info in infos))
    addresses = [ipaddress.ip_address(text) for text in texts]
    fact = f"It resolves to {', '.join(texts[:8])}."
    if all(one.is_loopback for one in addresses):
        return found(
            verdict=Verdict.WARNING,
            fact=f"{fact} Only this machine can reach that.",
            advice=f"Set {SETTING} to an address that recipients can reach.",
        )
    if not any(map(is_public, addresses)):
        return found(
            verdict=Verdict.WARNING,
            fact=f"{fact} That is in a private network.",
            advice="Recipients outside can reach it only through a tunnel.",
        )
    return found(verdict=Verdict.OK, fact=fact)


# === Its certificate ===


def _certificate(address: PublicAddress) -> Finding:
    found = partial(Finding, step=Step.TLS, subject=f"{address.host}:{address.port}")
    if not address.is_tls:
        return found(
            verdict=Verdict.WARNING,
            fact=f"{SETTING} uses http, so others can read tokens and rows on the way.",
            advice="Use https, with a proxy that ends TLS. Power BI requires it.",
        )
    try:
        with (
            socket.create_connection(
                (address.host, address.port), timeout=TIMEOUT_S
            ) as connected,
            address.trusted.wrap_socket(
                connected, server_hostname=address.host
            ) as wrapped,
        ):
            certificate = wrapped.getpeercert() or {}
    except ssl.SSLCertVerificationError as error:
        return found(
            verdict=Verdict.FAILED,
            fact=f"Clients refuse its certificate: {error.verify_message}.",
            advice="Serve a certificate for this name, with its whole chain.",
        )
    except (ssl.SSLError, OSError) as error:
        return found(
            verdict=Verdict.FAILED,
            fact=f"The TLS connection failed ({type(error).__name__}).",
            advice="Check that this port serves TLS.",
        )
    ends_s = ssl.cert_time_to_seconds(str(certificate.get("notAfter", "")))
    ends_at = datetime.fromtimestamp(ends_s, UTC)
    listed = certificate.get("subjectAltName", ())
    names = [str(one[1]) for one in listed if isinstance(one, tuple)]
    fact = f"Certificate of {', '.join(names[:8])}, valid until {ends_at:%Y-%m-%d}."
    if ends_at - address.clock() < CERTIFICATE_SOON:
        return found(verdict=Verdict.WARNING, fact=fact, advice="Renew it.")
    return found(verdict=Verdict.OK, fact=fact)


# === What answers there ===


def _answer(address: PublicAddress) -> Iterator[Finding]:
    """Ask for a list with nobody's token: who refuses it so is this server."""
    url = f"{address.url}/delta-sharing/shares"
    found = partial(Finding, step=Step.HTTP, subject=url)
    transport = Transport(
        allowed_hosts=[address.host], timeout_s=TIMEOUT_S, deadline_s=2 * TIMEOUT_S
    )
    before = address.clock()
    try:
        headers = {"Authorization": f"Bearer {_NOBODY}"}
        answer = transport.ask(
            HTTPRequest("GET", url, headers, max_bytes=MAX_ANSWER_BYTES)
        )
    except DeltaError as error:
        yield found(
            verdict=Verdict.FAILED,
            fact=f"There is no answer: {error.message}",
            advice="Check that the server runs and that its proxy forwards to it.",
        )
        yield Finding(
            step=Step.CLOCK,
            verdict=Verdict.NOT_CHECKED,
            subject=address.host,
            fact="There was no answer with a time.",
        )
        return
    fact, advice = _meaning(answer)
    if advice:
        yield found(verdict=Verdict.FAILED, fact=fact, advice=advice)
    else:
        yield found(verdict=Verdict.OK, fact=fact)
    yield clock_finding(answer.headers, between=(before, address.clock()), of=url)


def _meaning(answer: HTTPAnswer) -> tuple[str, str]:
    """Return what an answer tells, and what to do; "" where it is as it should be."""
    status = answer.status
    if status == HTTPStatus.UNAUTHORIZED:
        message = _message(answer.body)
        if message.startswith(TokenUnknownError.message):
            return "This server answers and receives the token.", ""
        if message.startswith(CredentialsMissingError.message):
            return (
                "This server answers, but it does not receive the token.",
                "Let the proxy pass on the header Authorization.",
            )
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return (
            f"The answer is a redirect ({status}), at which clients drop their token.",
            f"Set {SETTING} to the address that it redirects to.",
        )
    if status in {HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT}:
        return (
            f"A proxy answers with {status}, because it does not reach this server.",
            "Check where the proxy forwards to, and that the server runs.",
        )
    return (
        f"Another server answers, with {status}.",
        f"Compare {SETTING} and its path with what the proxy forwards.",
    )


def _message(body: bytes) -> str:
    try:
        said = parse_json(body)
    except (ValueError, RecursionError):
        return ""
    return str(said.get("message", "")) if isinstance(said, dict) else ""


# === Its clock ===


def clock_finding(
    headers: Mapping[str, str], *, between: tuple[datetime, datetime], of: str
) -> Finding:
    """Return how far the clock of an answer is from this one.

    Args:
        between: When it was asked for, and when it was there.
    """
    found = partial(Finding, step=Step.CLOCK, subject=of)
    try:
        server_time = parsedate_to_datetime(headers.get("Date", ""))
        sent, there = between
        ahead, behind = server_time - there, sent - server_time
    except (TypeError, ValueError):
        return found(verdict=Verdict.NOT_CHECKED, fact="The answer has no time.")
    # Answers tell whole seconds.
    skew = max(ahead, behind - timedelta(seconds=1), timedelta())
    fact = f"Its clock differs from this server's by {skew.total_seconds():.0f} s."
    if skew < SKEW_NOTED:
        return found(verdict=Verdict.OK, fact=fact)
    return found(
        verdict=Verdict.FAILED if skew >= SKEW_REFUSED else Verdict.WARNING,
        fact=fact,
        advice="Set both clocks with NTP, because signed URLs expire by the clock.",
    )
