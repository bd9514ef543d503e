"""Keys for one purpose each, all from the one secret of the server."""

from collections.abc import Iterable
from typing import Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES: Final = 32


def derive_keys(secret_key: str, fallbacks: Iterable[str], purpose: str) -> list[bytes]:
    """Return a key for one purpose from each secret key, the current one first.

    Args:
        fallbacks: Its former secrets.
        purpose: Keys of two purposes tell nothing of each other.
    """
    return [_derive_key(secret, purpose) for secret in (secret_key, *fallbacks)]


def _derive_key(secret: str, purpose: str) -> bytes:
    info = f"deltaweb {purpose}".encode()
    return HKDF(SHA256(), KEY_BYTES, salt=None, info=info).derive(secret.encode())
