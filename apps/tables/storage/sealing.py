"""Options of storage connections as the database keeps them: sealed."""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from apps.tables.storage.errors import StorageSealedError
from deltaweb.storage.signing.derived_keys import derive_keys

PURPOSE: Final = "storage connections"


def seal(options: Mapping[str, str]) -> str:
    """Encrypt options with a key that is derived from the secret key."""
    return _fernet().encrypt(json.dumps(dict(options)).encode()).decode("ascii")


def seal_again(sealed: str, *, storage: str) -> str:
    """Encrypt sealed options with the current key."""
    try:
        return _fernet().rotate(sealed.encode()).decode("ascii")
    except InvalidToken:
        raise StorageSealedError(storage=storage) from None


def seal_again_by(sealed: str, former_keys: Sequence[str]) -> str | None:
    """Encrypt what secret keys of another server sealed; None if none of them did."""
    first, *others = [*former_keys, settings.SECRET_KEY]
    former = [_key(key) for key in derive_keys(first, others, PURPOSE)]
    try:
        opened = MultiFernet(former).decrypt(sealed.encode())
    except InvalidToken:
        return None
    return _fernet().encrypt(opened).decode("ascii")


def unseal(sealed: str, *, storage: str) -> dict[str, str]:
    """Return sealed options."""
    try:
        opened = _fernet().decrypt(sealed.encode())
    except InvalidToken:
        raise StorageSealedError(storage=storage) from None
    return dict(json.loads(opened))


def _fernet() -> MultiFernet:
    keys = derive_keys(settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS, PURPOSE)
    return MultiFernet([_key(key) for key in keys])


def _key(key: bytes) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(key))
