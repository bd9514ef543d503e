"""A small document of the web, asked for at an address that somebody typed."""

from collections.abc import Sequence
from typing import Final

from deltaweb.storage.objects.hosts import ANY_PUBLIC, refusal
from deltaweb.storage.received.transport import Transport, host_of
from deltaweb.web.tables.storage.errors import DocumentError

TIMEOUT_S: Final = 5.0
MAX_DOCUMENT_BYTES: Final = 1 << 20
_OK: Final = 200


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
    host = host_of(url)
    named = [one for one in allowed if one != ANY_PUBLIC]
    is_secure = url.lower().startswith("https:")
    if not is_secure and (not named or refusal(host, allowed=named)):
        raise DocumentError(url=url, reason="its address is not https")
    transport = Transport(tuple(allowed), timeout_s=timeout_s, deadline_s=timeout_s)
    headers = {"Accept": "application/json"}
    answer = transport.ask("GET", url, headers=headers, max_bytes=limit_bytes)
    if answer.status != _OK:
        raise DocumentError(url=url, reason=f"it answers with {answer.status}")
    return answer.body
