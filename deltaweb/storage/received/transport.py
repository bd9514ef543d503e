"""One request to a provider, or to a store that a provider names.

The name of a host is looked up once, checked, and the connection goes to that very
address; a redirect is not followed; an answer is read within bounds of size and time.
"""

import http.client
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from deltaweb.delta.errors import LocationUnreachableError
from deltaweb.storage.objects.hosts import allowed_addresses
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

    def ask(  # the parts of a request
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        max_bytes: int = MAX_ANSWER_BYTES,
    ) -> HTTPAnswer:
        """Send one request and read the answer."""
        host = host_of(url)
        has_ended = threading.Event()
        try:
            with closing(self._connection(url, host)) as connection:
                connection.connect()
                with _breaking_off(connection.sock, self.deadline_s, has_ended):
                    said = {**self.headers, **(headers or {})}
                    _send(connection, method, url, said, body)
                    answer = _read(connection, host, max_bytes)
        except (HTTPError, http.client.HTTPException, OSError) as error:
            if not has_ended.is_set():
                # Texts of these errors hold URLs, which may be signed.
                kind = type(error).__name__
                raise LocationUnreachableError(location=host, reason=kind) from None
        except ValueError:
            reason = "it names an address that is not a URL"
            raise ProviderAnswerError(provider=host, reason=reason) from None
        # An answer without a length is whole to its reader wherever it breaks off.
        if has_ended.is_set():
            reason = f"the answer takes longer than {self.deadline_s:g} seconds"
            raise ProviderAnswerError(provider=host, reason=reason)
        return answer

    def _connection(self, url: str, host: str) -> HTTPConnection:
        parts = urlsplit(url)
        if parts.scheme not in DEFAULT_PORTS or not host:
            raise ProviderHostError(host=host or "an address", reason="it is not a URL")
        found, reason = allowed_addresses(host, allowed=self.allowed_hosts)
        if not found:
            raise ProviderHostError(host=host, reason=reason)
        port = parts.port or DEFAULT_PORTS[parts.scheme]
        if parts.scheme == "http":
            return HTTPConnection(found[0], port, timeout=self.timeout_s)
        return HTTPSConnection(
            found[0],
            port,
            timeout=self.timeout_s,
            server_hostname=host,
            assert_hostname=host,
        )


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


def _read(connection: HTTPConnection, host: str, max_bytes: int) -> HTTPAnswer:
    with closing(connection.getresponse()) as response:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            reason = "the answer is compressed, which was not requested"
            raise ProviderAnswerError(provider=host, reason=reason)
        parts, size = [], 0
        while part := response.read1(PART_BYTES):
            size += len(part)
            if size > max_bytes:
                reason = f"the answer has more than {max_bytes:,} bytes"
                raise ProviderAnswerError(provider=host, reason=reason)
            parts.append(part)
        return HTTPAnswer(response.status, response.headers, b"".join(parts))


@contextmanager
def _breaking_off(
    connected: socket.socket, after_s: float, has_ended: threading.Event
) -> Iterator[None]:
    """End a connection under its reader when its time is over, and say so.

    A server may send a byte a minute, of its headers too, so to look at the clock
    between two parts of an answer is not enough.
    """

    def end() -> None:
        has_ended.set()
        with suppress(OSError):
            connected.shutdown(socket.SHUT_RDWR)

    watch = threading.Timer(after_s, end)
    watch.daemon = True
    watch.start()
    try:
        yield
    finally:
        watch.cancel()


def host_of(url: str) -> str:
    """Return the host of a URL; "" where there is none."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""
