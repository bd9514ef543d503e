"""URLs that anyone may read a file at, for a while, signed for the store that has it.

    s3_signing      Signature Version 4, of S3 and what speaks like it
    gcs_signing     V4 of Google Cloud Storage, by a service account
    azure_signing   shared access signatures, by an account's key
    file_urls       files of this machine, which the server itself hands out

Whoever wants the URLs of an object store asks `open_signer`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol
from urllib.parse import quote

import pyarrow as pa

from deltaweb.delta.errors import CredentialsNeededError
from deltaweb.storage import signing
from deltaweb.storage.location import (
    AZURE_SCHEMES,
    GCS_SCHEMES,
    S3_SCHEMES,
    is_local,
    normalize_location,
)
from deltaweb.storage.signing import azure as azure_signing
from deltaweb.storage.signing import gcs as gcs_signing
from deltaweb.storage.signing.errors import (
    SigningKeyNeededError,
    SigningUnsupportedError,
)
from deltaweb.storage.signing.file_urls import LocalFileSigner
from deltaweb.storage.signing.hmac_states import Numbers, Texts, as_list
from deltaweb.storage.signing.s3 import S3Signer
from deltaweb.storage.signing.url_quoting import quote_paths

MAX_LIFETIME_S: Final = 7 * 86_400  # what S3 and Google accept at most


class URLSigner(Protocol):
    """Makes the URLs of a table's files."""

    @property
    def expires_at(self) -> datetime:
        """The end of the URLs' life, a whole second."""

    def sign(self, relative_paths: Texts, sizes: Numbers) -> list[str]:
        """Return the URL of each file.

        Args:
            relative_paths: Paths below the table's root, decoded.
            sizes: Sizes of the files in bytes.

        Raises:
            PathEscapesTableError: If a path is not plainly one below the root.
        """


def sign_all(
    signer: URLSigner, relative_paths: pa.StringArray, sizes: pa.Array
) -> pa.StringArray:
    """Return the URLs of whole columns, as a column; see `URLSigner.sign`."""
    if isinstance(signer, LocalFileSigner):
        return signer.sign_all(relative_paths, sizes)
    return pa.array(signer.sign(relative_paths, sizes), pa.string())


class FixedSigner:
    """URLs that are all signed alike, or not at all.

    Args:
        base_url: What a quoted path is appended to; ends with a slash.
        query: What follows the path, with its question mark, or "".
    """

    def __init__(self, *, base_url: str, query: str, expires_at: datetime) -> None:
        self._base_url = base_url
        self._query = query
        self.expires_at = expires_at.astimezone(UTC).replace(microsecond=0)

    def sign(self, relative_paths: Texts, sizes: Numbers) -> list[str]:
        """Return the URL of each file; see `URLSigner`."""
        del sizes
        head, tail = self._base_url, self._query
        return [f"{head}{path}{tail}" for path in quote_paths(as_list(relative_paths))]


def open_signer(
    location: str,
    storage_options: Mapping[str, Any] | None,
    *,
    now: datetime,
    lifetime_s: int,
) -> URLSigner:
    """Return what signs the URLs of files below an object store's location.

    Args:
        location: The table's root; a scheme of S3, Google Cloud Storage or Azure.
        lifetime_s: How long URLs are good; less where their credential ends before,
            and 7 days at most.
    """
    place = normalize_location(location)
    scheme, _, rest = place.partition("://")
    if is_local(place) or scheme not in S3_SCHEMES | GCS_SCHEMES | AZURE_SCHEMES:
        raise SigningUnsupportedError(
            location=place, scheme="file" if is_local(place) else scheme
        )
    container, _, prefix = rest.partition("/")
    ask = _Ask(
        location=place,
        container=container,
        prefix=prefix,
        options=storage_options or {},
        now=now,
        lifetime_s=min(lifetime_s, MAX_LIFETIME_S),
    )
    if scheme in S3_SCHEMES:
        signer = _s3_signer(ask)
    elif scheme in GCS_SCHEMES:
        signer = _gcs_signer(ask)
    else:
        signer = _azure_signer(ask)
    if signer.expires_at <= now:
        raise CredentialsNeededError(location=place)
    return signer


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ask:
    """What is asked of a store: where, with what, and for how long."""

    location: str
    container: str
    prefix: str
    options: Mapping[str, Any] = field(repr=False)
    now: datetime
    lifetime_s: int

    def public(self, base_url: str) -> FixedSigner:
        expires_at = self.now + timedelta(seconds=self.lifetime_s)
        return self.fixed(base_url, query="", expires_at=expires_at)

    def fixed(self, base_url: str, *, query: str, expires_at: datetime) -> FixedSigner:
        folder = quote(f"{self.prefix}/" if self.prefix else "", safe="/")
        return FixedSigner(
            base_url=f"{base_url}{folder}", query=query, expires_at=expires_at
        )


def _s3_signer(ask: _Ask) -> URLSigner:
    endpoint = signing.s3_session.find_endpoint(
        ask.location, ask.container, ask.options
    )
    if ask.options.get("anon"):
        return ask.public(endpoint.base_url)
    return S3Signer(
        endpoint=endpoint,
        prefix=ask.prefix,
        credentials=signing.s3_session.find_credentials(ask.location, ask.options),
        now=ask.now,
        lifetime_s=ask.lifetime_s,
    )


def _gcs_signer(ask: _Ask) -> URLSigner:
    endpoint_url = ask.options.get("endpoint_url")
    if ask.options.get("token") == "anon":
        base_url = endpoint_url or "https://storage.googleapis.com"
        return ask.public(f"{base_url.rstrip('/')}/{ask.container}/")
    account = gcs_signing.find_account(ask.location, ask.options)
    try:
        return gcs_signing.GCSSigner(
            bucket=ask.container,
            prefix=ask.prefix,
            account=account,
            now=ask.now,
            lifetime_s=ask.lifetime_s,
            endpoint_url=endpoint_url,
        )
    except ValueError:
        raise SigningKeyNeededError(
            location=ask.location, wanted=gcs_signing.WANTED
        ) from None


def _azure_signer(ask: _Ask) -> URLSigner:
    container, host = azure_signing.split_host(ask.container)
    account = azure_signing.find_account(ask.location, ask.options, host)
    if account.key:
        return azure_signing.AzureSigner(
            container=container,
            prefix=ask.prefix,
            account=account,
            now=ask.now,
            lifetime_s=ask.lifetime_s,
        )
    base_url = f"{account.blob_url}/{container}/"
    if not account.sas_token:
        return ask.public(base_url)
    expires_at = ask.now + timedelta(seconds=ask.lifetime_s)
    ends_at = azure_signing.token_expiry(account.sas_token)
    return ask.fixed(
        base_url,
        query=f"?{account.sas_token.lstrip('?')}",
        expires_at=expires_at if ends_at is None else min(expires_at, ends_at),
    )
