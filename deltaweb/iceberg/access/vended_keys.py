"""Keys of S3 that a catalogue hands out, and what they are good for.

No key is stored anywhere. What it may do is said in its session token, signed by this
server; the access key is a digest of that token, and the secret one is derived of it.
"""

import base64
import hashlib
import hmac
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from deltaweb.iceberg.access.errors import KeysRefusedError

FORM: Final = 1
SIGNATURE_BYTES: Final = 32
MAX_TOKEN_LENGTH: Final = 200
_CLAIMS: Final = struct.Struct(">B16s16sqqq")
ACCESS_KEY_PREFIX: Final = "DW"
ACCESS_KEY_LENGTH: Final = 18  # characters after the prefix


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What some keys are good for.

    Attributes:
        expires_at: When they end, in whole seconds.
    """

    token_id: UUID
    table_id: UUID
    first_version: int
    last_version: int
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class VendedKeys:
    """The keys of a session, as clients of S3 have them."""

    access_key: str
    secret_key: str = field(repr=False)
    session_token: str = field(repr=False)
    expires_at: datetime


def vend_keys(claims: Claims, keys: Sequence[bytes]) -> VendedKeys:
    packed = _CLAIMS.pack(
        FORM,
        claims.token_id.bytes,
        claims.table_id.bytes,
        claims.first_version,
        claims.last_version,
        int(claims.expires_at.timestamp()),
    )
    signed = packed + hmac.digest(keys[0], packed, "sha256")
    token = base64.urlsafe_b64encode(signed).decode()
    return VendedKeys(
        access_key=access_key_of(token),
        secret_key=_secret_key(token, keys[0]),
        session_token=token,
        expires_at=claims.expires_at,
    )


@dataclass(frozen=True, slots=True)
class OpenedKeys:
    """Keys that came with a request, and what they are good for."""

    claims: Claims
    secret_key: str = field(repr=False)


def open_keys(
    session_token: str, access_key: str, *, keys: Sequence[bytes], now: datetime
) -> OpenedKeys:
    """Return what the keys of a request are good for."""
    packed, signature = _unpacked(session_token)
    signer = _signer(packed, signature, keys)
    known = access_key_of(session_token).encode()
    is_pair = hmac.compare_digest(known, access_key.encode("utf-8", "replace"))
    if signer is None or not is_pair:
        raise _none_of_ours()
    _, token, table, first, last, expiry = _CLAIMS.unpack(packed)
    expires_at = datetime.fromtimestamp(expiry, tz=UTC)
    if now >= expires_at:
        reason = f"they expired at {expires_at.isoformat()}"
        raise KeysRefusedError(reason=reason, s3_code="ExpiredToken")
    claims = Claims(
        token_id=UUID(bytes=token),
        table_id=UUID(bytes=table),
        first_version=first,
        last_version=last,
        expires_at=expires_at,
    )
    return OpenedKeys(claims, _secret_key(session_token, signer))


def _unpacked(session_token: str) -> tuple[bytes, bytes]:
    """Return the claims of a token, packed, and their signature."""
    if len(session_token) > MAX_TOKEN_LENGTH:
        raise _none_of_ours()
    try:
        text = session_token.encode("ascii")
        signed = base64.b64decode(text, b"-_", validate=True)
    except ValueError:
        raise _none_of_ours() from None
    if len(signed) != _CLAIMS.size + SIGNATURE_BYTES or signed[0] != FORM:
        raise _none_of_ours()
    return signed[: _CLAIMS.size], signed[_CLAIMS.size :]


def _signer(packed: bytes, signature: bytes, keys: Sequence[bytes]) -> bytes | None:
    for key in keys:
        if hmac.compare_digest(hmac.digest(key, packed, "sha256"), signature):
            return key
    return None


def _none_of_ours() -> KeysRefusedError:
    return KeysRefusedError(reason="the session token is not one of this server's")


def access_key_of(session_token: str) -> str:
    digest = hashlib.sha256(session_token.encode("utf-8", "replace")).digest()
    text = base64.b32encode(digest).decode()
    return f"{ACCESS_KEY_PREFIX}{text[:ACCESS_KEY_LENGTH]}"


def _secret_key(session_token: str, key: bytes) -> str:
    message = b"secret\0" + session_token.encode()
    return hmac.new(key, message, "sha256").hexdigest()
