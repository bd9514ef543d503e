"""One request to a provider, or to a store that a provider names.

The name of a host is looked up once, checked, and the connection goes to that very
address; a redirect is not followed; an answer is read within bounds of size and time.
"""

import http.client
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, Self
from urllib.parse import urlsplit

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from deltaweb.delta.errors import LocationUnreachableError
from deltaweb.storage.objects.hosts import allowed_addresses
from deltaweb.storage.received.budget import LookBudget
from deltaweb.storage.received.errors import ProviderAnswerError, ProviderHostError
from deltaweb.storage.signing.s3 import DEFAULT_PORTS, host_header
from deltaweb.version import VERSION

TIMEOUT_S: Final = 20.0  # for a connection, and for each part of an answer
DEADLINE_S: Final = 300.0  # for a whole answer
PART_BYTES: Final = 1 << 20
MAX_ANSWER_BYTES: Final = 2 << 30


@dataclass(frozen=True, slots=True)
class HTTPAnswer:
    """What a server answers, whatever its status."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class HTTPStream:
    """An answer that is still read.

    Attributes:
        parts: Of the body, as they come.
    """

    status: int
    headers: Mapping[str, str]
    parts: Iterator[bytes]


@dataclass(frozen=True, slots=True)
class Transport:
    """Sends requests; which hosts it asks is decided for each of them.

    Attributes:
        allowed_hosts: As `deltaweb.storage.objects.hosts` takes them.
        timeout_s: For a connection, and for each part of an answer.
        deadline_s: For a whole answer.
    """

    allowed_hosts: Sequence[str] = ()
    timeout_s: float = TIMEOUT_S
    deadline_s: float = DEADLINE_S
    headers: Mapping[str, str] = field(
        default_factory=lambda: {"User-Agent": f"deltaweb/{VERSION}"}
    )

    def ask(  # noqa: PLR0913 (the parts of a request)
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        max_bytes: int = MAX_ANSWER_BYTES,
        budget: LookBudget | None = None,
    ) -> HTTPAnswer:
        """Send one request and read the answer."""
        with self.streaming(
            method, url, headers=headers, body=body, max_bytes=max_bytes, budget=budget
        ) as answer:
            body_read = b"".join(answer.parts)
        return HTTPAnswer(answer.status, answer.headers, body_read)

    @contextmanager
    def streaming(  # noqa: PLR0913 (the parts of a request)
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        max_bytes: int = MAX_ANSWER_BYTES,
        budget: LookBudget | None = None,
    ) -> Iterator[HTTPStream]:
        """Send one request; the answer is read within the block.

        Args:
            budget: Of the look that the request is of; None for a request alone.
        """
        host = host_of(url)
        left_s = self.deadline_s if budget is None else budget.left_s()
        reason = f"the answer takes longer than {self.deadline_s:g} seconds"
        error = ProviderAnswerError(provider=host, reason=reason)
        if budget is not None and left_s < self.deadline_s:
            error = budget.too_long()
        deadline = _Deadline(min(self.deadline_s, left_s), error)
        try:
            with deadline, closing(self._connection(url, host, deadline)) as connection:
                connection.connect()
                said = {**self.headers, **(headers or {})}
                _send(connection, method, url, said, body)
                with closing(connection.getresponse()) as response:
                    parts = _parts(response, host, max_bytes, budget)
                    whole = chain(parts, deadline.unless_over())
                    yield HTTPStream(response.status, response.headers, whole)
        except (HTTPError, http.client.HTTPException, OSError) as fault:
            deadline.check()
            # Texts of these errors hold URLs, which may be signed.
            kind = type(fault).__name__
            raise LocationUnreachableError(location=host, reason=kind) from None
        except ValueError:
            reason = "it names an address that is not a URL"
            raise ProviderAnswerError(provider=host, reason=reason) from None

    def _connection(
        self, url: str, host: str, deadline: "_Deadline"
    ) -> "_Connection | _TLSConnection":
        parts = urlsplit(url)
        if parts.scheme not in DEFAULT_PORTS or not host:
            raise ProviderHostError(host=host or "an address", reason="it is not a URL")
        found, reason = allowed_addresses(host, allowed=self.allowed_hosts)
        if not found:
            raise ProviderHostError(host=host, reason=reason)
        port = parts.port or DEFAULT_PORTS[parts.scheme]
        timeout_s = min(self.timeout_s, deadline.after_s)
        connection: _Connection | _TLSConnection
        if parts.scheme == "http":
            connection = _Connection(found[0], port, timeout=timeout_s)
        else:
            connection = _TLSConnection(
                found[0],
                port,
                timeout=timeout_s,
                server_hostname=host,
                assert_hostname=host,
            )
        connection.deadline = deadline
        return connection


class _Deadline:
    """Ends a connection under its reader when its time is over.

    A server may send a byte a minute, of its headers and of its handshake too, so to
    look at the clock between two parts of an answer is not enough.
    """

    def __init__(self, after_s: float, error: ProviderAnswerError) -> None:
        self.after_s, self._error = after_s, error
        self._ends_s = time.monotonic() + after_s
        self._is_over = threading.Event()
        self._lock = threading.Lock()
        self._connected: socket.socket | None = None
        self._timer = threading.Timer(after_s, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            if self._connected is not None:
                self._connected.close()

    def take(self, connected: socket.socket) -> None:
        """Watch a connection, by a descriptor of our own: TLS takes away the first."""
        with self._lock:
            self._connected = connected.dup()
        if self._is_over.is_set():
            self._end()

    def check(self) -> None:
        """Raise the error of an answer that was broken off here."""
        if self._is_over.is_set() or time.monotonic() >= self._ends_s:
            raise self._error from None

    def unless_over(self) -> Iterator[bytes]:
        """End an answer: without a length, one that was broken off looks whole."""
        self.check()
        yield from ()

    def _end(self) -> None:
        self._is_over.set()
        with self._lock, suppress(OSError):
            if self._connected is not None:
                self._connected.shutdown(socket.SHUT_RDWR)


class _Connection(HTTPConnection):
    deadline: _Deadline

    def _new_conn(self) -> socket.socket:
        connected = super()._new_conn()
        self.deadline.take(connected)
        return connected


class _TLSConnection(HTTPSConnection):
    deadline: _Deadline

    def _new_conn(self) -> socket.socket:
        connected = super()._new_conn()
        self.deadline.take(connected)
        return connected


def _send(
    connection: HTTPConnection,
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
) -> None:
    parts = urlsplit(url)
    connection.request(
        method,
        f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/",
        body=body,
        headers={"Host": host_header(url), **headers},
        preload_content=False,
    )


def _parts(
    response: BaseHTTPResponse, host: str, max_bytes: int, budget: LookBudget | None
) -> Iterator[bytes]:
    if response.headers.get("Content-Encoding", "identity") != "identity":
        reason = "the answer is compressed, which was not requested"
        raise ProviderAnswerError(provider=host, reason=reason)
    size = 0
    while part := response.read1(PART_BYTES):
        size += len(part)
        if budget is not None:
            budget.take_bytes(len(part))
        if size > max_bytes:
            reason = f"the answer has more than {max_bytes:,} bytes"
            raise ProviderAnswerError(provider=host, reason=reason)
        yield part


def host_of(url: str) -> str:
    """Return the host of a URL; "" where there is none."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""
