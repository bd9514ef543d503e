"""Presigned URLs of S3: Signature Version 4 in the query, for many files at once.

All files of an answer share their credential, its scope and the time, so the key is
derived once, and of each signature only what holds the path is hashed again.

Source: AWS, "Authenticating requests: using query parameters (Signature Version 4)".
"""

import hashlib
import hmac
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import quote, urlsplit

from deltaweb.storage.signing.hmac_states import Numbers, Texts, as_list, hmac_states
from deltaweb.storage.signing.url_quoting import quote_paths

ALGORITHM: Final = "AWS4-HMAC-SHA256"
MAX_LIFETIME_S: Final = 7 * 86_400
DEFAULT_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Endpoint:
    """Where a bucket is.

    Attributes:
        base_url: What a key is appended to; ends with a slash.
    """

    base_url: str
    region: str


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Credentials:
    """Who signs; `expires_at` is None for what does not end by itself."""

    access_key: str
    secret_key: str = field(repr=False)
    token: str | None = field(default=None, repr=False)
    expires_at: datetime | None = None


class S3Signer:
    """Signs URLs that read objects below a prefix of a bucket.

    Args:
        prefix: The key of the table's root, decoded, without slashes around it.
        credentials: Whose rights the URLs carry; no URL outlives them.
        lifetime_s: How long they are good, at most 7 days.
    """

    def __init__(
        self,
        *,
        endpoint: S3Endpoint,
        prefix: str,
        credentials: S3Credentials,
        now: datetime,
        lifetime_s: int,
    ) -> None:
        signed_at = now.astimezone(UTC).replace(microsecond=0)
        expires_s = min(lifetime_s, MAX_LIFETIME_S)
        if credentials.expires_at is not None:
            left = credentials.expires_at - signed_at
            expires_s = min(expires_s, int(left.total_seconds()))
        self.expires_at = signed_at + timedelta(seconds=expires_s)
        stamp = signed_at.strftime("%Y%m%dT%H%M%SZ")
        scope = f"{stamp[:8]}/{endpoint.region}/s3/aws4_request"
        parameters = {
            "X-Amz-Algorithm": ALGORITHM,
            "X-Amz-Credential": f"{credentials.access_key}/{scope}",
            "X-Amz-Date": stamp,
            "X-Amz-Expires": str(expires_s),
            "X-Amz-SignedHeaders": "host",
        }
        if credentials.token is not None:
            parameters["X-Amz-Security-Token"] = credentials.token
        folder = quote(f"{prefix}/" if prefix else "", safe="/")
        parts = urlsplit(endpoint.base_url + folder)
        self._head = f"{endpoint.base_url}{folder}"
        self._tail = f"?{_query(parameters)}&X-Amz-Signature="
        canonical_query = _query(dict(sorted(parameters.items())))
        self._canonical_head = f"GET\n{parts.path}".encode()
        self._canonical_tail = (
            f"\n{canonical_query}\nhost:{host_header(endpoint.base_url)}\n\nhost"
            "\nUNSIGNED-PAYLOAD"
        )
        key = signing_key(credentials.secret_key, scope)
        self._inner, self._outer = hmac_states(key)
        self._inner.update(f"{ALGORITHM}\n{stamp}\n{scope}\n".encode())

    def sign(self, relative_paths: Texts, sizes: Numbers) -> list[str]:
        """Return the URL of each file, of which its size is no part."""
        del sizes
        head, tail = self._head, self._tail
        request = hashlib.sha256(self._canonical_head)
        canonical_tail = self._canonical_tail
        inner_state, outer_state = self._inner, self._outer
        urls = []
        for path in quote_paths(as_list(relative_paths)):
            canonical, inner, outer = (
                request.copy(),
                inner_state.copy(),
                outer_state.copy(),
            )
            canonical.update(f"{path}{canonical_tail}".encode("ascii"))
            inner.update(canonical.hexdigest().encode("ascii"))
            outer.update(inner.digest())
            urls.append(f"{head}{path}{tail}{outer.hexdigest()}")
        return urls


def signing_key(secret_key: str, scope: str) -> bytes:
    """Return the key of a day, region and service."""
    key = f"AWS4{secret_key}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


def _query(parameters: dict[str, str]) -> str:
    return "&".join(
        f"{name}={quote(value, safe='')}" for name, value in parameters.items()
    )


def host_header(url: str) -> str:
    """Return the value of the Host header, which has no usual port."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    if parts.port in {None, DEFAULT_PORTS.get(parts.scheme)}:
        return host
    return f"{host}:{parts.port}"
