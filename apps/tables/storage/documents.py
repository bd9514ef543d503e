"""A small document of the web, read or sent at an address that somebody typed."""

from collections.abc import Mapping, Sequence
from typing import Final

from apps.tables.storage.errors import DocumentError
from deltaweb.storage.objects.hosts import ANY_PUBLIC, refusal
from deltaweb.storage.received.patience import HTTPRequest
from deltaweb.storage.received.transport import HTTPAnswer, Transport, host_of

TIMEOUT_S: Final = 5.0
MAX_DOCUMENT_BYTES: Final = 1 << 20
MAX_ANSWER_BYTES: Final = 1 << 16  # of an answer that nobody reads
_OK: Final = 200
_SUCCESS: Final = 2  # hundreds


def fetch_document(
    url: str,
    *,
    allowed: Sequence[str],
    timeout_s: float = TIMEOUT_S,
    limit_bytes: int = MAX_DOCUMENT_BYTES,
) -> bytes:
    """Return the document of an address.

    Args:
        url: `https`; `http` only to hosts that are allowed by their names.
        allowed: As in `check_endpoints`.
    """
    headers = {"Accept": "application/json"}
    answer = _ask("GET", url, headers, None, allowed, timeout_s, limit_bytes)
    if answer.status != _OK:
        raise DocumentError(url=url, reason=f"it answers with {answer.status}")
    return answer.body


def post_document(
    url: str, body: bytes, *, headers: Mapping[str, str], allowed: Sequence[str]
) -> None:
    """Send JSON to an address.

    Args:
        url: As of `fetch_document`; a redirect is not followed.
        body: The JSON.
        headers: What is said of it besides its type.
        allowed: As in `check_endpoints`.

    Raises:
        DeltaError: If the host may not be asked, or does not answer with 2xx.
    """
    said = {"Content-Type": "application/json", **headers}
    answer = _ask("POST", url, said, body, allowed, TIMEOUT_S, MAX_ANSWER_BYTES)
    if answer.status // 100 != _SUCCESS:  # its path may be a secret
        raise DocumentError(url=host_of(url), reason=f"it answers with {answer.status}")


def _ask(  # noqa: PLR0913, PLR0917 (the parts of a request)
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
    allowed: Sequence[str],
    timeout_s: float,
    limit_bytes: int,
) -> HTTPAnswer:
    host = host_of(url)
    named = [one for one in allowed if one != ANY_PUBLIC]
    is_secure = url.lower().startswith("https:")
    if not is_secure and (not named or refusal(host, allowed=named)):
        raise DocumentError(url=host, reason="its address is not https")
    transport = Transport(tuple(allowed), timeout_s=timeout_s, deadline_s=timeout_s)
    return transport.ask(HTTPRequest(method, url, headers, body, limit_bytes))
