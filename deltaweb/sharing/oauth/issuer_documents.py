"""What an OIDC issuer publishes of itself: where its keys are, and the keys.

Source: OpenID Connect Discovery 1.0, sections 3 and 4; RFC 7517.
"""

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from deltaweb.environment.bounded_json import parse_json
from deltaweb.sharing.oauth.errors import IssuerInvalidError

DISCOVERY: Final = "/.well-known/openid-configuration"
MAX_KEYS: Final = 100
MAX_ISSUER_CHARACTERS: Final = 400
Fetch = Callable[[str], bytes]


def check_issuer(text: str) -> str:
    """Return the address of an issuer as its tokens have to spell it."""
    issuer = text.strip()
    try:
        parts = urlsplit(issuer)
        host = parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme not in {"https", "http"}:
        raise IssuerInvalidError(reason="its address is not http or https")
    if (
        parts.query
        or parts.fragment
        or parts.username
        or len(issuer) > MAX_ISSUER_CHARACTERS
    ):
        raise IssuerInvalidError(reason="its address has parts that are not allowed")
    return issuer


def fetch_keys(issuer: str, *, fetch: Fetch) -> KeySet:
    """Return the keys that an issuer signs by now.

    Args:
        issuer: From `check_issuer`.
        fetch: Returns the document of an address, which it checks.
    """
    found = _object(fetch(issuer.rstrip("/") + DISCOVERY))
    if found.get("issuer") != issuer:
        raise IssuerInvalidError(reason="its document names another issuer")
    address = found.get("jwks_uri")
    if not isinstance(address, str):
        raise IssuerInvalidError(reason="its document has no jwks_uri")
    keys = _object(fetch(address)).get("keys")
    if not isinstance(keys, list) or len(keys) > MAX_KEYS:
        raise IssuerInvalidError(
            reason=("its keys are not a list, or there are too many")
        )
    try:
        return KeySet.import_key_set({"keys": keys})
    except (JoseError, ValueError, TypeError, KeyError, AttributeError):
        raise IssuerInvalidError(reason="its keys cannot be read") from None


def _object(document: bytes) -> dict[str, Any]:
    try:
        found = parse_json(document)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise IssuerInvalidError(reason="its document is not a JSON object")
    return found
