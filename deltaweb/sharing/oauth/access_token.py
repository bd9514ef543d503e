"""The access tokens of this server: short, and worth nothing without their client.

A token names the client that traded for it; whether that is still good is asked of the
database in each request, so a revocation counts at once.

Source: RFC 9068 (JWT profile for access tokens).
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from joserfc import jwt
from joserfc.jwk import KeySet, OctKey

from deltaweb.sharing.oauth.errors import JWTRefusedError
from deltaweb.sharing.oauth.signed_claims import Expected, checked_claims

ALGORITHM: Final = "HS256"
TYPE: Final = "at+jwt"
LIFETIME: Final = timedelta(hours=1)


def new_access_token(
    client: UUID,
    *,
    keys: Sequence[bytes],
    issuer: str,
    now: datetime,
    ends_at: datetime,
) -> tuple[str, int]:
    """Return a token of a client, and for how many seconds it is good.

    Args:
        keys: The server's keys of this purpose; the first signs.
    """
    ends_at = min(ends_at, now + LIFETIME)
    (key, *_) = _key_set(keys)
    made_s, ends_s = int(now.timestamp()), int(ends_at.timestamp())
    claims = {
        "iss": issuer,
        "aud": issuer,
        "sub": str(client),
        "iat": made_s,
        "exp": ends_s,
    }
    header = {"alg": ALGORITHM, "typ": TYPE, "kid": key.kid}
    token = jwt.encode(header, claims, key, algorithms=[ALGORITHM])
    return token, max(0, ends_s - made_s)


def client_of_token(
    token: str, *, keys: Sequence[bytes], issuer: str, now: datetime
) -> UUID:
    expected = Expected(issuer=issuer, audiences=[issuer], now=now, max_life=LIFETIME)
    claims = checked_claims(token, _key_set(keys), expected, algorithms=[ALGORITHM])
    try:
        return UUID(str(claims.get("sub", "")))
    except ValueError:
        raise JWTRefusedError(reason="it has no client") from None


def _key_set(keys: Sequence[bytes]) -> KeySet:
    return KeySet([OctKey.import_key(key) for key in keys])
