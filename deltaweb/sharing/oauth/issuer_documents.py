"""What an OIDC issuer publishes of itself: where its keys are, and the keys.

Source: OpenID Connect Discovery 1.0, sections 3 and 4; RFC 7517.
"""

from collections.abc import Callable
from dataclasses import dataclass
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
    address = _address(discovery(issuer, fetch=fetch), "jwks_uri", issuer)
    keys = _object(fetch(address)).get("keys")
    if not isinstance(keys, list) or len(keys) > MAX_KEYS:
        raise IssuerInvalidError(
            reason=("its keys are not a list, or there are too many")
        )
    try:
        return KeySet.import_key_set({"keys": keys})
    except (JoseError, ValueError, TypeError, KeyError, AttributeError):
        raise IssuerInvalidError(reason="its keys cannot be read") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderDocument:
    """The addresses of an OpenID Connect provider.

    Attributes:
        userinfo_endpoint: Empty if it has none, as `end_session_endpoint`.
        takes_basic: Whether the client's secret goes into the `Authorization` header.
    """

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str = ""
    end_session_endpoint: str = ""
    takes_basic: bool = True


def discovery(issuer: str, *, fetch: Fetch) -> dict[str, Any]:
    """Return the document that an issuer publishes of itself."""
    found = _object(fetch(issuer.rstrip("/") + DISCOVERY))
    if found.get("issuer") != issuer:
        raise IssuerInvalidError(reason="its document names another issuer")
    return found


def fetch_provider(issuer: str, *, fetch: Fetch) -> ProviderDocument:
    """Return the addresses of a provider."""
    found = discovery(issuer, fetch=fetch)
    needed = ("authorization_endpoint", "token_endpoint", "jwks_uri")
    others = ("userinfo_endpoint", "end_session_endpoint")
    methods = found.get("token_endpoint_auth_methods_supported")
    return ProviderDocument(
        issuer=issuer,
        **{name: _address(found, name, issuer) for name in needed},
        **{name: _address(found, name, issuer) for name in others if found.get(name)},
        takes_basic=not isinstance(methods, list) or "client_secret_basic" in methods,
    )


def _address(found: dict[str, Any], name: str, issuer: str) -> str:
    """Return an address of a document, which is as safe as the issuer's own."""
    address = found.get(name)
    if not isinstance(address, str):
        raise IssuerInvalidError(reason=f"its document has no {name}")
    is_plain = issuer.startswith("http:") and address.startswith("http:")
    if not is_plain and not address.startswith("https:"):
        raise IssuerInvalidError(reason=f"its {name} is not https")
    return address


def _object(document: bytes) -> dict[str, Any]:
    try:
        found = parse_json(document)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise IssuerInvalidError(reason="its document is not a JSON object")
    return found
