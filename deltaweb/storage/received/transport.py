"""One request to a provider, or to a store that a provider names.

Each host is checked before it is asked, also where a redirect leads to it. An answer is
read within bounds of size and time; the time is that of all attempts together.
"""

import http.client
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, TypeVar
from urllib.parse import quote, urlsplit

from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from deltaweb.delta.errors import LocationUnreachableError
from deltaweb.storage.received.budget import LookBudget
from deltaweb.storage.received.compression import decompressed
from deltaweb.storage.received.connection import Deadline, connection_to
from deltaweb.storage.received.errors import ProviderAnswerError
from deltaweb.storage.received.patience import HTTPRequest, after_answer, after_fault
from deltaweb.storage.signing.s3 import host_header
from deltaweb.version import VERSION

TIMEOUT_S: Final = 20.0  # for a connection, and for each part of an answer
DEADLINE_S: Final = 300.0  # for a whole answer
_RESERVED: Final = "!#$%&'()*+,/:;=?@[]~"
_BARE_PERCENT: Final = re.compile("%(?![0-9A-Fa-f]{2})")
_T = TypeVar("_T")


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
        request: The one that is answered, after redirects.
    """

    status: int
    headers: Mapping[str, str]
    parts: Iterator[bytes]
    request: HTTPRequest


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

    def ask(self, request: HTTPRequest, budget: LookBudget | None = None) -> HTTPAnswer:
        """Send a request and return the whole answer."""
        return self.read(request, _whole, budget)

    def read(
        self,
        request: HTTPRequest,
        take: Callable[[HTTPStream], _T],
        budget: LookBudget | None = None,
    ) -> _T:
        """Send a request, again where needed, and return what `take` returns.

        Args:
            take: Reads the answer; called again where a connection breaks off.
            budget: Of the look that the request is of; None for a request alone.
        """
        with self._deadline(host_of(request.url), budget) as deadline:
            while True:
                host = host_of(request.url)
                try:
                    with self._answer(request, deadline) as response:
                        again = after_answer(request, response)
                        if again is None or again.after_s >= deadline.left_s():
                            parts = _parts(response, host, request.max_bytes, budget)
                            whole = chain(parts, deadline.unless_over())
                            status, headers = response.status, response.headers
                            return take(HTTPStream(status, headers, whole, request))
                except (HTTPError, http.client.HTTPException, OSError) as fault:
                    deadline.check()
                    again = after_fault(request, fault)
                    if again is None or again.after_s >= deadline.left_s():
                        # Texts of these errors hold URLs, which may be signed.
                        kind = type(fault).__name__
                        raise LocationUnreachableError(
                            location=host, reason=kind
                        ) from None
                except ValueError:
                    reason = "it names an address that is not a URL"
                    raise ProviderAnswerError(provider=host, reason=reason) from None
                time.sleep(again.after_s)
                request = again.request

    def _deadline(self, host: str, budget: LookBudget | None) -> Deadline:
        left_s = self.deadline_s if budget is None else budget.left_s()
        if budget is not None and left_s < self.deadline_s:
            return Deadline(left_s, budget.too_long())
        reason = f"the answer takes longer than {self.deadline_s:g} seconds"
        error = ProviderAnswerError(provider=host, reason=reason)
        return Deadline(self.deadline_s, error)

    @contextmanager
    def _answer(
        self, request: HTTPRequest, deadline: Deadline
    ) -> Iterator[BaseHTTPResponse]:
        """Send one request once; the answer is read within the block."""
        connection = connection_to(
            request.url,
            allowed=self.allowed_hosts,
            timeout_s=self.timeout_s,
            deadline=deadline,
        )
        with closing(connection):
            connection.connect()
            forwarded_with = connection.forwarded_with
            connection.request(
                request.method,
                _target(request.url, is_whole=forwarded_with is not None),
                body=request.body,
                headers={
                    "Host": host_header(request.url),
                    **self.headers,
                    **request.headers,
                    **(forwarded_with or {}),
                },
                preload_content=False,
            )
            with closing(connection.getresponse()) as response:
                yield response


def _target(url: str, *, is_whole: bool) -> str:
    """Return what a request names: the path, or the URL for a proxy that forwards it.

    Characters that no URL has are escaped; escapes stay, because URLs are signed.
    """
    parts = urlsplit(url)
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    escaped = quote(_BARE_PERCENT.sub("%25", path), safe=_RESERVED)
    return f"{parts.scheme}://{host_header(url)}{escaped}" if is_whole else escaped


def _parts(
    response: BaseHTTPResponse, host: str, max_bytes: int, budget: LookBudget | None
) -> Iterator[bytes]:
    _check_length(response.headers, host)
    size = 0
    for part in decompressed(response, host):
        size += len(part)
        if budget is not None:
            budget.take_bytes(len(part))
        if size > max_bytes:
            reason = f"the answer has more than {max_bytes:,} bytes"
            raise ProviderAnswerError(provider=host, reason=reason)
        yield part


def _check_length(headers: Mapping[str, str], host: str) -> None:
    """Refuse an answer of which nothing says whether it is whole.

    urllib3 passes over a length that is not a number, and reads to the end of the
    connection; an answer that was cut off then looks whole.

    Source: RFC 9112, 6.3 "Message Body Length".
    """
    stated = headers.get("Content-Length")
    if stated is None or "Transfer-Encoding" in headers:
        return
    lengths = {length.strip() for length in stated.split(",")}
    if len(lengths) > 1 or not all(n.isascii() and n.isdecimal() for n in lengths):
        reason = "the length that the answer states is not a number"
        raise ProviderAnswerError(provider=host, reason=reason)


def _whole(answer: HTTPStream) -> HTTPAnswer:
    return HTTPAnswer(answer.status, answer.headers, b"".join(answer.parts))


def host_of(url: str) -> str:
    """Return the host of a URL; "" where there is none."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""
