"""The secrets of recipients: bearer tokens and the nonces of activation links."""

import secrets
from typing import Final

MARK: Final = "dwt_"  # lets a secret scanner recognise a token of ours
_PREFIX_BYTES: Final = 4
_SECRET_BYTES: Final = 32


def new_prefix() -> str:
    """Return what may be shown of a token: the mark and 8 hexadecimal digits."""
    return MARK + secrets.token_hex(_PREFIX_BYTES)


def new_secret(prefix: str) -> str:
    """Return a whole token: its prefix and 256 random bits as 43 characters."""
    return prefix + secrets.token_urlsafe(_SECRET_BYTES)


def new_nonce() -> str:
    """Return the random part of an activation link: 256 bits as 43 characters."""
    return secrets.token_urlsafe(_SECRET_BYTES)
