"""Secrets that are shown once: 256 random bits, of which only a hash is kept."""

import hashlib
import secrets

KEY_MARK = "dwk_"  # lets a secret scanner recognise an API key
PREFIX_LENGTH = 12  # of a key, shown in lists; the rest still holds 208 bits


def new_token() -> str:
    """Return 256 random bits as 43 characters that are safe in a URL."""
    return secrets.token_urlsafe(32)


def new_api_key() -> str:
    """Return a new API key: the mark and 256 random bits."""
    return f"{KEY_MARK}{new_token()}"


def sha256(token: str) -> str:
    """Return what is kept of a token, in hexadecimal.

    A fast hash is right for 256 random bits: there is no dictionary to try.
    """
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
