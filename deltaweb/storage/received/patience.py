"""When a request is sent again: after faults that pass, and where a redirect leads.

Source: RFC 9110, 10.2.3 "Retry-After", 15.4 "Redirection".
"""

import http.client
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urljoin, urlsplit

from urllib3.exceptions import (
    HTTPError,
    InvalidHeader,
    MaxRetryError,
    NewConnectionError,
    ProtocolError,
)
from urllib3.response import BaseHTTPResponse
from urllib3.util.retry import Retry

from deltaweb.storage.received.errors import ProviderAnswerError

MAX_ANSWER_BYTES: Final = 2 << 30
MAX_REDIRECTS: Final = 5
MAX_RETRY_AFTER_S: Final = 1 << 31
PATIENT: Final = Retry(
    total=None,
    connect=4,
    read=4,
    status=4,
    redirect=MAX_REDIRECTS,
    allowed_methods=None,  # requests of the protocol change nothing
    status_forcelist={429, 500, 502, 503, 504},
    backoff_factor=0.25,
    backoff_jitter=0.25,
    backoff_max=30,
    retry_after_max=MAX_RETRY_AFTER_S,
)
"""How requests to providers, and to the stores that they name, are sent again."""
_SEE_OTHER: Final = 303
_TRANSIENT: Final = (
    ConnectionError,
    NewConnectionError,
    ProtocolError,
    http.client.IncompleteRead,
    ssl.SSLEOFError,
)


@dataclass(frozen=True, slots=True)
class HTTPRequest:
    """One request, and how it is sent again.

    Attributes:
        headers: `Authorization` goes to the server of `url` alone.
        max_bytes: Of the body of its answer.
        retries: None for a request that is sent once.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    max_bytes: int = MAX_ANSWER_BYTES
    retries: Retry | None = None


@dataclass(frozen=True, slots=True)
class Again:
    """A request that is sent instead of the one before, after a pause."""

    request: HTTPRequest
    after_s: float


def after_answer(request: HTTPRequest, response: BaseHTTPResponse) -> Again | None:
    """Return what to send after an answer; None for an answer that counts.

    Raises:
        ProviderAnswerError: If a redirect may not be followed.
    """
    if request.retries is None:
        return None
    location = response.get_redirect_location()
    is_repeated = response.status in request.retries.status_forcelist
    if not location and not is_repeated:
        return None
    try:
        left = request.retries.increment(request.method, "", response=response)
    except MaxRetryError:
        if not location:
            return None
        reason = f"it redirects more than {MAX_REDIRECTS} times"
        raise ProviderAnswerError(provider=_host(request.url), reason=reason) from None
    if location:
        return Again(replace(_redirected(request, location, response), retries=left), 0)
    after_s = _retry_after_s(left, response)
    pause_s = left.get_backoff_time() if after_s is None else after_s
    return Again(replace(request, retries=left), pause_s)


def after_fault(request: HTTPRequest, fault: Exception) -> Again | None:
    """Return what to send after a request that failed; None where that is final."""
    if request.retries is None or not isinstance(fault, _TRANSIENT):
        return None
    error = ProtocolError(type(fault).__name__)
    try:
        left = request.retries.increment(request.method, "", error=error)
    except (MaxRetryError, HTTPError):
        return None
    return Again(replace(request, retries=left), left.get_backoff_time())


def _redirected(
    request: HTTPRequest, location: str, response: BaseHTTPResponse
) -> HTTPRequest:
    """Return the request that follows a redirect.

    The method stays, except after 303: a query is sent by POST alone.
    """
    url = urljoin(request.url, location)
    if urlsplit(request.url).scheme == "https" and urlsplit(url).scheme == "http":
        reason = "it redirects from https to http"
        raise ProviderAnswerError(provider=_host(request.url), reason=reason)
    headers = dict(request.headers)
    if not _is_same_server(request.url, url):
        headers.pop("Authorization", None)
    if response.status == _SEE_OTHER:
        headers.pop("Content-Type", None)
        return replace(request, method="GET", url=url, headers=headers, body=None)
    return replace(request, url=url, headers=headers)


def _retry_after_s(retries: Retry, response: BaseHTTPResponse) -> float | None:
    """Return what `Retry-After` says, in seconds or as a date; None for neither."""
    try:
        return retries.get_retry_after(response)
    except (InvalidHeader, ValueError, OverflowError):
        return None


def _is_same_server(url: str, other: str) -> bool:
    """Return whether a URL leads to the same port, or to TLS on the usual one."""
    before, after = urlsplit(url), urlsplit(other)
    ports = {"http": 80, "https": 443}
    places = [
        (one.scheme, one.port or ports.get(one.scheme)) for one in (before, after)
    ]
    is_upgrade = places == [("http", 80), ("https", 443)]
    return before.hostname == after.hostname and (places[0] == places[1] or is_upgrade)


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""
