"""Page tokens: where the next page of a list or of a query's answer begins.

A token is opaque to its holder: the key after which the next page begins, sealed for
what the list is and whose it is. So a token of another endpoint, of other names, of
another recipient, or one that was changed is none of ours; and where a page begins
among files of which some are hidden, nobody can read, nor guess by its length.

Source: delta_sharing_protocol.md, "List Shares" (pageToken); RFC 5297 (AES-SIV).
"""

import base64
import binascii
import hmac
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from deltaweb.sharing.errors import ParameterInvalidError

MAX_LENGTH: Final = 8192
BLOCK_BYTES: Final = 64
"""What a token says is as long as some of these, whatever it says."""
_PURPOSE: Final = b"sealed page tokens"
_HINTS: Final = {
    "pageToken": (
        "Send the nextPageToken of the page before, or none for the first page."
    ),
    "next-page-token": (
        "Send the next-page-token of the page before, or an empty pageToken for the "
        "first page."
    ),
    "refreshToken": (
        "Send the refreshToken of an earlier answer, or none for the newest version."
    ),
}


@dataclass(frozen=True, slots=True)
class PageScope:
    """The list that a token belongs to.

    Attributes:
        names: What else the list is told by, such as the names in its path, folded:
            their capitals do not matter.
        giver: What issues the tokens, for messages.
        given_as: The member of an answer that has the token, if it is not `field`.
    """

    endpoint: str
    recipient: str
    names: tuple[str, ...] = ()
    field: str = "pageToken"
    giver: str = "list"
    given_as: str = ""


def encode_page_token(
    last_key: Sequence[str], scope: PageScope, *, keys: Sequence[bytes]
) -> str:
    """Return the token of the page after the item with `last_key`.

    Args:
        last_key: What the list is ordered by, of the last item that was given.
    """
    payload = _json(list(last_key))
    padded = payload.ljust(-(-len(payload) // BLOCK_BYTES) * BLOCK_BYTES)
    sealed = _cipher(keys[0]).encrypt(padded, [_subject(scope)])
    return base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()


def decode_page_token(
    token: str, scope: PageScope, *, keys: Sequence[bytes]
) -> tuple[str, ...]:
    data = _decode(token, scope)
    for key in keys:
        with suppress(InvalidTag):
            # What was sealed here was written here.
            return tuple(json.loads(_cipher(key).decrypt(data, [_subject(scope)])))
    raise _not_ours(scope)


def _decode(token: str, scope: PageScope) -> bytes:
    """Decode the one spelling that a token has; base64 alone would allow others."""
    if len(token) > MAX_LENGTH:
        raise _not_ours(scope)
    try:
        text = token.encode("ascii")
        data = base64.b64decode(
            text + b"=" * (-len(text) % 4), altchars=b"-_", validate=True
        )
    except (UnicodeEncodeError, binascii.Error):
        raise _not_ours(scope) from None
    if base64.urlsafe_b64encode(data).rstrip(b"=") != text:
        raise _not_ours(scope)
    return data


def _cipher(key: bytes) -> AESSIV:
    return AESSIV(hmac.digest(key, _PURPOSE, "sha512"))


def _subject(scope: PageScope) -> bytes:
    return _json([scope.endpoint, scope.recipient, *scope.names])


def _json(values: list[str]) -> bytes:
    return json.dumps(values, separators=(",", ":")).encode()


def _not_ours(scope: PageScope) -> ParameterInvalidError:
    return ParameterInvalidError(
        name=scope.field,
        reason=f"it was not issued by this {scope.giver}",
        hint=_HINTS[scope.given_as or scope.field],
    )
