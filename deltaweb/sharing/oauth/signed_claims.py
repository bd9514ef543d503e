"""Claims that somebody signed: read, and checked against what is expected of them.

Every algorithm is pinned by its key, the clock is passed in, and skew is bounded.

Source: RFC 7519; RFC 8725 (best current practices).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hmac import compare_digest
from typing import Any, Final, TypeAlias

from joserfc import jwt
from joserfc.errors import (
    BadSignatureError,
    ClaimError,
    ExceededSizeError,
    ExpiredTokenError,
    InvalidKeyIdError,
    JoseError,
)
from joserfc.jwk import Key, KeySet
from joserfc.jws import JWSRegistry, extract_compact

from deltaweb.environment.bounded_json import parse_json
from deltaweb.sharing.oauth.errors import JWTRefusedError

Claims: TypeAlias = dict[str, Any]
"""The claims of a token, or another object of JSON, by name."""
LEEWAY: Final = timedelta(seconds=60)  # that two clocks may differ by
MAX_TOKEN_BYTES: Final = 16 << 10
ASYMMETRIC: Final = ("RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "Ed25519")
"""The algorithms of tokens that others sign. None has a secret that both sides know."""
_MAX_HEADER_BYTES: Final = 4096  # some issuers put certificates there


class _Registry(JWSRegistry):
    max_header_length = _MAX_HEADER_BYTES
    max_payload_length = MAX_TOKEN_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What the claims of a token have to say.

    Attributes:
        audiences: One of these is in its `aud`.
        max_life: How far ahead it may end; None for any time.
        subject: Its `sub`; None where any will do.
        client: Of an id token: its `azp` if it has one, and with several audiences it
            must have one. None where `azp` is not looked at.
        nonce: Of an id token: its `nonce`; None where it is not looked at.
    """

    issuer: str
    audiences: Sequence[str]
    now: datetime
    max_life: timedelta | None = None
    subject: str | None = None
    client: str | None = None
    nonce: str | None = None


class UnknownKeyError(JWTRefusedError, code="jwt-key-unknown"):
    """The token was signed by a key that is not among those known."""


def checked_claims(
    token: str,
    keys: Key | KeySet,
    expected: Expected,
    *,
    algorithms: Collection[str],
) -> Claims:
    """Return the claims of a token that is signed, in time, and meant for us."""
    _check_size(token)
    try:
        found = jwt.decode(
            token, keys, algorithms=list(algorithms), registry=_registry(algorithms)
        )
        _claims_registry(expected).validate(found.claims)
    except InvalidKeyIdError:
        reason = "it names a key that its issuer does not have"
        raise UnknownKeyError(reason=reason) from None
    except BadSignatureError:
        raise JWTRefusedError(reason="its signature is not valid") from None
    except ExpiredTokenError:
        raise JWTRefusedError(reason="it has expired") from None
    except ClaimError as error:
        claims = str(getattr(error, "claim", "") or error.description or "")[:40]
        reason = f"the claim {claims or 'set'} is missing, or not what is expected"
        raise JWTRefusedError(reason=reason) from None
    except (JoseError, ValueError, TypeError, KeyError, RecursionError):
        raise JWTRefusedError(reason="no key can verify it") from None
    _check_life(found.claims, expected)
    _check_party(found.claims, expected)
    return found.claims


def unchecked_claims(token: str) -> Claims:
    """Return what a token claims, to find the key that it is then checked by."""
    _check_size(token)
    try:
        content = extract_compact(token.encode(), registry=_Registry())
        claims = parse_json(content.payload)
    except ExceededSizeError:
        raise JWTRefusedError(reason="it is too large") from None
    except (JoseError, ValueError, TypeError, KeyError, RecursionError):
        raise JWTRefusedError(reason="it cannot be read") from None
    if not isinstance(claims, dict):
        raise JWTRefusedError(reason="it has no claims")
    return claims


def looks_signed(token: str) -> bool:
    """Whether a text has the three parts of a signed token."""
    return token.count(".") == 2  # noqa: PLR2004 (header, claims, signature)


def _check_size(token: str) -> None:
    if len(token) > MAX_TOKEN_BYTES:
        raise JWTRefusedError(reason="it is too large")
    if not token.isascii():
        raise JWTRefusedError(reason="it cannot be read")


def _registry(algorithms: Collection[str]) -> JWSRegistry:
    return _Registry(algorithms=list(algorithms))


def _claims_registry(expected: Expected) -> jwt.JWTClaimsRegistry:
    options: dict[str, Any] = {
        "iss": {"essential": True, "value": expected.issuer},
        "aud": {"essential": True, "values": list(expected.audiences)},
        "exp": {"essential": True},
    }
    if expected.subject is not None:
        options["sub"] = {"essential": True, "value": expected.subject}
    return jwt.JWTClaimsRegistry(
        now=int(expected.now.timestamp()),
        leeway=int(LEEWAY.total_seconds()),
        **options,
    )


def _check_party(claims: Claims, expected: Expected) -> None:
    """Check what an id token says of the client and of the request that it answers.

    Source: OpenID Connect Core 1.0, section 3.1.3.7, steps 4, 5 and 11.
    """
    if expected.client is not None:
        party, audience = claims.get("azp"), claims["aud"]
        has_others = isinstance(audience, list) and len(audience) > 1
        if party != expected.client and (party is not None or has_others):
            raise JWTRefusedError(reason="its authorized party is another client")
    if expected.nonce is not None:
        nonce = claims.get("nonce")
        # JSON can say half a letter, which is no text.
        is_same = isinstance(nonce, str) and compare_digest(
            nonce.encode(errors="surrogatepass"), expected.nonce.encode()
        )
        if not expected.nonce or not is_same:
            raise JWTRefusedError(reason="its nonce is not that of this sign-in")


def _check_life(claims: Claims, expected: Expected) -> None:
    if expected.max_life is None:
        return
    latest = expected.now + expected.max_life + LEEWAY
    if not claims["exp"] <= latest.timestamp():  # as of NaN, which JSON here can say
        raise JWTRefusedError(reason="it is valid for too long")
