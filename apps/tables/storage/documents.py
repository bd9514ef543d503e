"""A small document of the web, asked for at an address that somebody typed.

The host is looked up once, its addresses are checked, and the very address that was
checked is connected to: a name that leads elsewhere a moment later is no way into the
server's network. Redirects are not followed.
"""

import http.client
import socket
import ssl
import time
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from deltaweb.storage.objects.hosts import ANY_PUBLIC, allowed_addresses, refusal
from deltaweb.web.tables.storage.errors import DocumentError

TIMEOUT_S: Final = 5.0
MAX_DOCUMENT_BYTES: Final = 1 << 20
_BLOCK_BYTES: Final = 1 << 16
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
        timeout_s: For all of it.
        limit_bytes: How large it may be.

    Raises:
        DocumentError: If the server does not ask that host, or it does not answer with
            a document.
    """
    deadline_s = time.monotonic() + timeout_s
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise DocumentError(url=url, reason="its address cannot be read") from None
    if not host or parts.scheme not in {"https", "http"}:
        raise DocumentError(url=url, reason="its address is not http or https")
    addresses, reason = allowed_addresses(host, allowed=allowed)
    if reason:
        raise DocumentError(url=url, reason=f"of its host, {reason}")
    named = [one for one in allowed if one != ANY_PUBLIC]
    if parts.scheme == "http" and (not named or refusal(host, allowed=named)):
        raise DocumentError(url=url, reason="its address is not https")
    address = addresses[0]
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        connection = _CheckedHTTPS(host, port, address=address, timeout=timeout_s)
    else:
        connection = _CheckedHTTP(host, port, address=address, timeout=timeout_s)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request("GET", target, headers={"Accept": "application/json"})
        answer = connection.getresponse()
        if answer.status != _OK:
            raise DocumentError(url=url, reason=f"it answers with {answer.status}")
        return _read(answer, url, deadline_s=deadline_s, limit_bytes=limit_bytes)
    except (OSError, http.client.HTTPException, ValueError):
        raise DocumentError(url=url, reason="it does not answer") from None
    finally:
        connection.close()


def _read(
    answer: http.client.HTTPResponse, url: str, *, deadline_s: float, limit_bytes: int
) -> bytes:
    blocks, total = [], 0
    while block := answer.read1(_BLOCK_BYTES):
        blocks.append(block)
        total += len(block)
        if total > limit_bytes or time.monotonic() > deadline_s:
            raise DocumentError(url=url, reason="it is too large, or too slow")
    return b"".join(blocks)


class _CheckedHTTP(http.client.HTTPConnection):
    """A connection to an address that was checked, whatever its name means by now."""

    def __init__(
        self, host: str, port: int | None, *, address: str, timeout: float
    ) -> None:
        super().__init__(host, port, timeout=timeout)
        self._address = address

    def connect(self) -> None:
        """Connect to the address itself."""
        self.sock = socket.create_connection((self._address, self.port), self.timeout)


class _CheckedHTTPS(http.client.HTTPSConnection):
    """The same, with the certificate checked for the name."""

    def __init__(
        self, host: str, port: int | None, *, address: str, timeout: float
    ) -> None:
        super().__init__(host, port, timeout=timeout)
        self._address = address
        self._tls = ssl.create_default_context()

    def connect(self) -> None:
        """Connect to the address itself, and hold it to its name."""
        plain = socket.create_connection((self._address, self.port), self.timeout)
        self.sock = self._tls.wrap_socket(plain, server_hostname=self.host)
