"""URLs of local files: signed here, checked where the server hands out the file.

    {base}/delta-sharing/files/{share}/{table}/{path}?sp=r&se=..&sz=..&tk=..&tm=..&sig=..

`se` is the end of its life in seconds since the epoch, `sz` the file's size, `tk` the
recipient's token, `tm` a digest of the terms on which the table was shared, `sig` an
HMAC-SHA256 over the decoded values of all of them, so it holds however a client quotes
the URL again. `sp` says that the URL is presigned, which some clients look for.

The digest of the terms is keyed, because a recipient could otherwise test guesses of
the condition on it.

Source: sharing_wire.md, 2.6 (clients that look for `sp`; URLs quoted again).
"""

import hmac
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import parse_qsl, quote
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import DeltaError
from deltaweb.sharing.json_text import hex_texts
from deltaweb.storage.signing.hmac_states import Numbers, Texts, as_list, hmac_states
from deltaweb.storage.signing.url_quoting import quote_column, quote_paths

PATH_PREFIX: Final = "/delta-sharing/files"
PREPARED_PREFIX: Final = "/delta-sharing/prepared"
"""Of files that were rewritten for those who may not see all of them."""
READ: Final = "r"
MAX_QUERY_FIELDS: Final = 32
TERMS_DIGITS: Final = 16  # compared, never forged: the signature covers them
_FORMS: Final = {
    "sp": re.compile(READ),
    "se": re.compile("[1-9][0-9]{0,10}"),  # until the year 5138
    "sz": re.compile("0|[1-9][0-9]{0,17}"),
    "tk": re.compile("[0-9a-f]{32}"),
    "tm": re.compile(f"[0-9a-f]{{{TERMS_DIGITS}}}"),
    "sig": re.compile("[0-9a-f]{64}"),
}


class FileURLInvalidError(DeltaError, code="file-url-invalid"):
    """The URL of a file was not made here, or was changed since."""

    reason: str
    message = "The URL of this file is not valid: {reason}."
    hint = "Query the table again and use the URLs unchanged."


class FileURLExpiredError(FileURLInvalidError, code="file-url-expired"):
    """The URL of a file was good until a time that has passed."""

    expired_at: datetime
    token_id: UUID
    reason: str = "it was valid until {expired_at}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedFile:
    """What a checked URL names.

    Attributes:
        token_id: The recipient's token that the URL was made for.
        terms: The `terms_digest` of the terms that it was made under.
        size: The file's size in bytes, as in the log.
    """

    table_id: UUID
    token_id: UUID
    terms: str
    path: str
    size: int
    expires_at: datetime


class LocalFileSigner:
    """Signs URLs of one shared table's files for one recipient's token.

    Args:
        base_url: The server's public address, without a trailing slash.
        terms: The terms on which the recipient reads the table.
        path_prefix: Where the server hands out files of this kind; each has its keys.
    """

    def __init__(  # noqa: PLR0913 (each is a part of the URL)
        self,
        *,
        base_url: str,
        share: str,
        table_id: UUID,
        token_id: UUID,
        terms: Sequence[str],
        keys: Sequence[bytes],
        expires_at: datetime,
        path_prefix: str = PATH_PREFIX,
    ) -> None:
        expiry = int(expires_at.timestamp())
        self._expires_at = datetime.fromtimestamp(expiry, tz=UTC)
        folder = f"{path_prefix}/{quote(share, safe='')}/{table_id}"
        self._head = f"{base_url.rstrip('/')}{folder}/"
        self._query = f"?sp={READ}&se={expiry}&sz="
        digest = terms_digest(terms, keys[0])
        self._token = f"&tk={token_id.hex}&tm={digest}&sig="
        self._inner, self._outer = hmac_states(keys[0])
        self._inner.update(_constants(share, table_id, token_id, digest, expiry))

    @property
    def expires_at(self) -> datetime:
        return self._expires_at

    def sign(self, relative_paths: Texts, sizes: Numbers) -> list[str]:
        paths, lengths = as_list(relative_paths), as_list(sizes)
        quoted = quote_paths(paths)
        digests = self._digests(
            f"{size}\0{path}".encode("utf-8", "surrogateescape")
            for path, size in zip(paths, lengths, strict=True)
        )
        return [
            f"{self._head}{path}{self._query}{size}{self._token}{digest.hex()}"
            for path, size, digest in zip(quoted, lengths, digests, strict=True)
        ]

    def sign_all(self, relative_paths: pa.StringArray, sizes: pa.Array) -> pa.Array:
        """Return the same of whole columns, as a column."""
        quoted = quote_column(relative_paths)
        lengths = sizes.fill_null(0).cast(pa.string())
        messages = pc.binary_join_element_wise(lengths, relative_paths, "\0")
        digests = self._digests(messages.cast(pa.binary()).to_pylist())
        signatures = hex_texts(digests)
        parts = [self._head, quoted, self._query, lengths, self._token, signatures]
        return pc.binary_join_element_wise(*parts, "")

    def _digests(self, messages: Iterable[bytes]) -> list[bytes]:
        copy_inner, copy_outer = self._inner.copy, self._outer.copy
        digests = []
        for message in messages:
            inner, outer = copy_inner(), copy_outer()
            inner.update(message)
            outer.update(inner.digest())
            digests.append(outer.digest())
        return digests


def terms_digest(terms: Sequence[str], key: bytes) -> str:
    """Return the digest by which a URL names the terms that it was made under."""
    message = "\0".join(("terms", *terms)).encode()
    return hmac.digest(key, message, "sha256").hex()[:TERMS_DIGITS]


def verify(  # noqa: PLR0913 (each is a part of the request)
    *,
    share: str,
    table_id: UUID,
    path: str,
    query: str,
    keys: Sequence[bytes],
    now: datetime,
) -> SignedFile:
    """Check the URL of a file, whatever it holds.

    The caller compares `terms` with the terms of now.
    """
    values = _query_values(query)
    expiry, size = int(values["se"]), int(values["sz"])
    token_id = UUID(hex=values["tk"])
    constants = _constants(share, table_id, token_id, values["tm"], expiry)
    try:
        message = constants + f"{size}\0{path}".encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise FileURLInvalidError(reason="its path is not text") from None
    signature = bytes.fromhex(values["sig"])
    matches = [
        hmac.compare_digest(hmac.digest(key, message, "sha256"), signature)
        for key in keys
    ]
    if not any(matches) or "\0" in path:
        raise FileURLInvalidError(reason="its signature is not valid")
    expires_at = datetime.fromtimestamp(expiry, tz=UTC)
    if now >= expires_at:
        raise FileURLExpiredError(expired_at=expires_at, token_id=token_id)
    return SignedFile(
        table_id=table_id,
        token_id=token_id,
        terms=values["tm"],
        path=path,
        size=size,
        expires_at=expires_at,
    )


def _query_values(query: str) -> dict[str, str]:
    """Read the values of a URL's query; each of ours stands there once."""
    try:
        pairs = parse_qsl(
            query, keep_blank_values=True, max_num_fields=MAX_QUERY_FIELDS
        )
    except ValueError:
        raise FileURLInvalidError(reason="its query is too long") from None
    values: dict[str, str] = {}
    for name, value in pairs:
        if name in _FORMS and values.setdefault(name, value) != value:
            raise FileURLInvalidError(reason=f"it has two values of {name}")
    for name, form in _FORMS.items():
        if form.fullmatch(values.get(name, "")) is None:
            raise FileURLInvalidError(reason=f"its value of {name} is missing or wrong")
    return values


def _constants(
    share: str, table_id: UUID, token_id: UUID, terms: str, expiry: int
) -> bytes:
    """Return the signed bytes that all files of an answer have in common.

    Every value ends with a NUL, which none of them can hold.
    """
    values = f"{table_id.hex}\0{token_id.hex}\0{terms}\0{expiry}\0{share}\0"
    return values.encode("utf-8", "surrogatepass")
