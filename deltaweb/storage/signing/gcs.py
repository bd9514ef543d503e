"""Signed URLs of Google Cloud Storage: V4, by the key of a service account.

Source: Google Cloud, "V4 signing process with your own program".
"""

import functools
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from deltaweb.storage.signing.errors import SigningKeyNeededError
from deltaweb.storage.signing.hmac_states import Numbers, Texts, as_list
from deltaweb.storage.signing.url_quoting import quote_paths

ALGORITHM: Final = "GOOG4-RSA-SHA256"
MAX_LIFETIME_S: Final = 7 * 86_400
WANTED: Final = "the option token is not a service account key (its JSON, or a path)"
THREADS: Final = min(os.cpu_count() or 1, 8)  # OpenSSL signs outside of Python's lock
ALONE: Final = 32  # files that one thread signs sooner than several


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """Who signs."""

    email: str
    private_key: str = field(repr=False)
    universe: str = "googleapis.com"


class GCSSigner:
    """Signs URLs that read objects below a prefix of a bucket.

    Args:
        prefix: The name of the table's root, decoded, without slashes around it.
        endpoint_url: Address of the storage, where it is not Google's own.
    """

    def __init__(  # noqa: PLR0913 (each is a part of the URL)
        self,
        *,
        bucket: str,
        prefix: str,
        account: ServiceAccount,
        now: datetime,
        lifetime_s: int,
        endpoint_url: str | None = None,
    ) -> None:
        base_url = endpoint_url or f"https://storage.{account.universe}"
        signed_at = now.astimezone(UTC).replace(microsecond=0)
        expires_s = min(lifetime_s, MAX_LIFETIME_S)
        self.expires_at = signed_at + timedelta(seconds=expires_s)
        self._sign_hash = _load_key(account.private_key)
        stamp = signed_at.strftime("%Y%m%dT%H%M%SZ")
        scope = f"{stamp[:8]}/auto/storage/goog4_request"
        credential = quote(f"{account.email}/{scope}", safe="")
        query = (
            f"X-Goog-Algorithm={ALGORITHM}&X-Goog-Credential={credential}"
            f"&X-Goog-Date={stamp}&X-Goog-Expires={expires_s}&X-Goog-SignedHeaders=host"
        )
        root = f"{bucket}/{prefix}/" if prefix else f"{bucket}/"
        self._head = f"{base_url.rstrip('/')}/{quote(root, safe='/')}"
        self._tail = f"?{query}&X-Goog-Signature="
        parts = urlsplit(self._head)
        self._canonical_head = f"GET\n{parts.path}"
        self._canonical_tail = (
            f"\n{query}\nhost:{parts.netloc}\n\nhost\nUNSIGNED-PAYLOAD"
        )
        self._to_sign = f"{ALGORITHM}\n{stamp}\n{scope}\n"

    def sign(self, relative_paths: Texts, sizes: Numbers) -> list[str]:
        """Return the URL of each file, of which its size is no part."""
        del sizes
        paths = quote_paths(as_list(relative_paths))
        if len(paths) <= ALONE or THREADS == 1:
            return [self._sign_one(path) for path in paths]
        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(self._sign_one, paths, chunksize=ALONE))

    def _sign_one(self, path: str) -> str:
        request = f"{self._canonical_head}{path}{self._canonical_tail}"
        digest = hashlib.sha256(request.encode("ascii")).hexdigest()
        to_sign = f"{self._to_sign}{digest}".encode("ascii")
        signature = self._sign_hash(hashlib.sha256(to_sign).digest())
        return f"{self._head}{path}{self._tail}{signature.hex()}"


def find_account(location: str, options: Mapping[str, Any]) -> ServiceAccount:
    key = find_key(location, options)
    return ServiceAccount(
        key["client_email"],
        key["private_key"],
        key.get("universe_domain") or "googleapis.com",
    )


def find_key(location: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the key of a service account as Google gives it out: e-mail and all."""
    token = options.get("token") or os.environ.get("GOOGLE_APPLICATION_CREDENTIALS")
    try:
        if isinstance(token, str) and not token.lstrip().startswith("{"):
            token = Path(token).read_text(encoding="utf-8")
        values: Any = json.loads(token) if isinstance(token, str) else token
        is_key = bool(values["client_email"] and values["private_key"])
    except (OSError, ValueError, KeyError, TypeError):
        is_key = False
    if not is_key:
        raise SigningKeyNeededError(location=location, wanted=WANTED)
    found: Mapping[str, Any] = values
    return found


@functools.lru_cache(maxsize=16)
def _load_key(pem: str) -> Callable[[bytes], bytes]:
    """Return what signs a SHA-256; parsing a key takes as long as many signatures."""
    key = load_pem_private_key(pem.encode(), password=None)
    if not isinstance(key, RSAPrivateKey):
        message = "The key is not an RSA key."
        raise ValueError(message)  # noqa: TRY004 (a wrong value, not a wrong call)
    padding, algorithm = PKCS1v15(), Prehashed(SHA256())
    return lambda digest: key.sign(digest, padding, algorithm)
