"""A recipient's public key, and the assertions that its private key signs.

Source: RFC 7523, section 3; RFC 7638 (thumbprints).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey

from deltaweb.sharing.oauth.errors import JWTRefusedError, KeyInvalidError
from deltaweb.sharing.oauth.signed_claims import LEEWAY, Expected, checked_claims

MAX_KEY_CHARACTERS: Final = 20_000
MAX_ASSERTION_LIFE: Final = timedelta(minutes=10)
MIN_RSA_BITS: Final = 2048
_ALGORITHMS_OF_CURVES: Final = {
    "P-256": ("ES256",),
    "P-384": ("ES384",),
    "Ed25519": ("Ed25519",),
}
_RSA_ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256")


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key that checks signatures, and the algorithms that it checks them by.

    Attributes:
        pem: The key alone, without anything private.
        algorithms: The first is what a client signs by that is told nothing else.
    """

    pem: str
    key_id: str
    algorithms: tuple[str, ...]


def parse_public_key(text: str) -> PublicKey:
    plain = text.strip()
    if len(plain) > MAX_KEY_CHARACTERS:
        raise KeyInvalidError(reason="it is too long")
    if "PRIVATE" in plain:
        reason = "it is a private key; give the public one"
        raise KeyInvalidError(reason=reason)
    if not plain.startswith("-----BEGIN "):
        raise KeyInvalidError(reason="it is not in PEM")
    key = _imported(plain)
    return PublicKey(
        pem=key.as_pem(private=False).decode(),
        key_id=key.thumbprint(),
        algorithms=_algorithms(key),
    )


def check_assertion(
    assertion: str,
    key: PublicKey,
    *,
    client_id: str,
    audiences: Sequence[str],
    now: datetime,
) -> datetime:
    """Check that a client signed an assertion, for us and just now.

    Returns:
        When it is good no longer.
    """
    expected = Expected(
        issuer=client_id, audiences=audiences, now=now, max_life=MAX_ASSERTION_LIFE
    )
    # The client may name its key as it likes: one alone has to fit.
    claims = checked_claims(
        assertion, _imported(key.pem), expected, algorithms=key.algorithms
    )
    if claims.get("sub", client_id) != client_id:
        raise JWTRefusedError(reason="it belongs to another client")
    return datetime.fromtimestamp(claims["exp"], tz=UTC) + LEEWAY


def _imported(text: str) -> RSAKey | ECKey | OKPKey:
    for kind in (RSAKey, ECKey, OKPKey):
        try:
            return kind.import_key(text)
        except (JoseError, ValueError, TypeError, AttributeError):
            continue
    raise KeyInvalidError(reason="it cannot be read")


def _algorithms(key: RSAKey | ECKey | OKPKey) -> tuple[str, ...]:
    if isinstance(key, RSAKey):
        bits = key.public_key.key_size
        if bits < MIN_RSA_BITS:
            raise KeyInvalidError(reason=f"an RSA key of {bits} bits is too weak")
        return _RSA_ALGORITHMS
    curve = key.curve_name
    if curve not in _ALGORITHMS_OF_CURVES:
        raise KeyInvalidError(reason=f"its curve is {curve}")
    return _ALGORITHMS_OF_CURVES[curve]
