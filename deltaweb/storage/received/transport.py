"""One request to a provider, or to a store that a provider names.

The name of a host is looked up once, checked, and the connection goes to that very
address; a redirect is not followed; an answer is read within bounds of size and time.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import urllib3

from deltaweb.delta.errors import LocationUnreachableError
from deltaweb.storage.objects.hosts import allowed_addresses
from deltaweb.storage.received.errors import ProviderAnswerError, ProviderHostError
from deltaweb.version import VERSION

TIMEOUT_S: Final = 20.0  # for a connection, and for each part of an answer
DEADLINE_S: Final = 300.0  # for a whole answer
PART_BYTES: Final = 1 << 20
MAX_ANSWER_BYTES: Final = 2 << 30
_PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443}


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
        """Send one request and read the answer.

        Raises:
            ProviderHostError: If the host may not be asked.
            LocationUnreachableError: If nothing answers in time.
            ProviderAnswerError: If the answer is larger than `max_bytes`.
        """
        started_s = time.monotonic()
        with self._response(method, url, headers, body) as response:
            if response.headers.get("Content-Encoding", "identity") != "identity":
                reason = "the answer is compressed, which was not requested"
                raise ProviderAnswerError(provider=host_of(url), reason=reason)
            parts, size = [], 0
            # One part at a time as it comes: a server may send a byte a minute.
            while part := response.read1(PART_BYTES):
                size += len(part)
                if size > max_bytes:
                    reason = f"the answer has more than {max_bytes:,} bytes"
                    raise ProviderAnswerError(provider=host_of(url), reason=reason)
                if time.monotonic() - started_s > self.deadline_s:
                    reason = f"the answer takes longer than {self.deadline_s:g} seconds"
                    raise ProviderAnswerError(provider=host_of(url), reason=reason)
                parts.append(part)
            return HTTPAnswer(response.status, response.headers, b"".join(parts))

    @contextmanager
    def _response(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None,
        body: bytes | None,
    ) -> Iterator[urllib3.BaseHTTPResponse]:
        host = host_of(url)
        try:
            with self._pool(url, host) as pool:
                parts = urlsplit(url)
                path = parts.path or "/"
                response = pool.urlopen(
                    method,
                    f"{path}?{parts.query}" if parts.query else path,
                    body=body,
                    headers={"Host": parts.netloc, **self.headers, **(headers or {})},
                    redirect=False,
                    retries=False,
                    preload_content=False,
                    assert_same_host=False,
                )
                try:
                    yield response
                finally:
                    response.close()
        except urllib3.exceptions.HTTPError as error:
            # Texts of these errors hold URLs, which may be signed.
            kind = type(error).__name__
            raise LocationUnreachableError(location=host, reason=kind) from None
        except ValueError:
            reason = "it names an address that is not a URL"
            raise ProviderAnswerError(provider=host, reason=reason) from None

    def _pool(self, url: str, host: str) -> urllib3.HTTPConnectionPool:
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or not host:
            raise ProviderHostError(host=host or "an address", reason="it is not a URL")
        found, reason = allowed_addresses(host, allowed=self.allowed_hosts)
        if not found:
            raise ProviderHostError(host=host, reason=reason)
        port = parts.port or _PORTS[parts.scheme]
        timeout = urllib3.Timeout(
            total=None, connect=self.timeout_s, read=self.timeout_s
        )
        if parts.scheme == "http":
            return urllib3.HTTPConnectionPool(found[0], port, timeout=timeout)
        return urllib3.HTTPSConnectionPool(
            found[0], port, timeout=timeout, server_hostname=host, assert_hostname=host
        )


def host_of(url: str) -> str:
    """Return the host of a URL; "" where there is none."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""
