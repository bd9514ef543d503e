"""The OpenID Connect provider: its addresses, its keys, and requests to it.

Only hosts that an administrator chose are asked: that of the issuer, and those that
storage connections may use. No request follows a redirect.
"""

from base64 import b64encode
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache
from typing import Final
from urllib.parse import quote, urlencode, urljoin, urlsplit

from django.conf import settings
from django.urls import reverse
from joserfc.jwk import KeySet

from apps.accounts.errors import ProviderUnavailableError
from deltaweb.delta.errors import DeltaError
from deltaweb.environment.bounded_json import parse_json
from deltaweb.environment.outages import PROVIDER, outages
from deltaweb.sharing.oauth.issuer_documents import (
    DISCOVERY,
    ProviderDocument,
    discovery,
    fetch_keys,
    fetch_provider,
)
from deltaweb.sharing.oauth.issuer_keys import IssuerKeys
from deltaweb.sharing.oauth.signed_claims import (
    ASYMMETRIC,
    Claims,
    Expected,
    UnknownKeyError,
    checked_claims,
)
from deltaweb.storage.objects.hosts import ANY_PUBLIC
from deltaweb.storage.received.patience import HTTPRequest
from deltaweb.storage.received.transport import HTTPAnswer, Transport

TIMEOUT_S: Final = 10.0
MAX_ANSWER_BYTES: Final = 1 << 20
FRESH_FOR: Final = timedelta(minutes=10)
_OK: Final = 200
_BROKEN: Final = 500
_documents: dict[str, tuple[datetime, ProviderDocument]] = {}


def document(now: datetime) -> ProviderDocument:
    """Return the addresses of the provider, at most ten minutes old.

    Raises:
        ProviderUnavailableError: If it does not answer, or not as it should.
    """
    issuer = settings.OIDC_ISSUER
    kept = _documents.get(issuer)
    if kept is not None and now - kept[0] < FRESH_FOR:
        return kept[1]
    try:
        found = fetch_provider(issuer, fetch=fetch)
    except DeltaError as error:
        raise ProviderUnavailableError(reason=error.message) from error
    _documents[issuer] = now, found
    return found


def claims_of(token: str, expected: Expected) -> Claims:
    """Return the claims of a token that the provider signed.

    Raises:
        JWTRefusedError: If it is not one, or its claims are not as expected.
    """
    keys = issuer_keys().get(expected.issuer, now=expected.now)
    try:
        return checked_claims(token, keys, expected, algorithms=ASYMMETRIC)
    except UnknownKeyError:
        renewed = issuer_keys().get(expected.issuer, now=expected.now, renewed=True)
        return checked_claims(token, renewed, expected, algorithms=ASYMMETRIC)


@cache
def issuer_keys() -> IssuerKeys:
    """Return the keys that this process keeps of the provider."""

    def ask(issuer: str) -> KeySet:
        return fetch_keys(issuer, fetch=fetch)

    return IssuerKeys(ask)


def forget() -> None:
    """Forget what this process keeps of the provider."""
    _documents.clear()
    issuer_keys.cache_clear()


def redirect_uri() -> str:
    """Return the address to which the provider sends people back."""
    path = reverse("sso-callback", urlconf="apps.accounts.urls")
    return urljoin(settings.PUBLIC_URL, path)


def discovered() -> Claims:
    """Return the document that the provider publishes of itself, as it is now."""
    return discovery(settings.OIDC_ISSUER, fetch=fetch)


def date_of(url: str) -> str:
    """Return the time of an answer of the provider, as its header has it."""
    headers = _ask("GET", url.rstrip("/") + DISCOVERY, {}).headers
    return {name.lower(): value for name, value in headers.items()}.get("date", "")


def fetch(url: str) -> bytes:
    """Return a document of the provider."""
    return _checked(_ask("GET", url, {"Accept": "application/json"}), url).body


def trade(form: Mapping[str, str], *, provider: ProviderDocument) -> Claims:
    """Send the form of a token request, with the client's secret, and return tokens."""
    sent = dict(form)
    headers = {
        "Accept": "application/json",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    if provider.takes_basic:
        names = (sent.pop("client_id"), sent.pop("client_secret"))
        pair = ":".join(quote(name, safe="") for name in names)
        headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
    url = provider.token_endpoint
    answer = _ask("POST", url, headers, urlencode(sent).encode())
    return _object(answer, url)


def userinfo(access_token: str, *, provider: ProviderDocument) -> Claims:
    """Return what the provider says of the person of a token."""
    headers = {"Accept": "application/json", "Authorization": f"Bearer {access_token}"}
    url = provider.userinfo_endpoint
    return _object(_ask("GET", url, headers), url)


def _ask(
    method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
) -> HTTPAnswer:
    own = urlsplit(settings.OIDC_ISSUER).hostname or ""
    allowed = (own, *(settings.STORAGE_HOSTS or (ANY_PUBLIC,)))
    transport = Transport(allowed, timeout_s=TIMEOUT_S, deadline_s=TIMEOUT_S)
    try:
        answer = transport.ask(
            HTTPRequest(method, url, headers, body, MAX_ANSWER_BYTES)
        )
    except DeltaError as error:
        outages.began(PROVIDER, error.message)
        raise ProviderUnavailableError(reason=error.message) from error
    if answer.status >= _BROKEN:
        outages.began(PROVIDER, f"it answers with {answer.status}")
    else:
        outages.ended(PROVIDER)
    return answer


def _checked(answer: HTTPAnswer, url: str) -> HTTPAnswer:
    if answer.status != _OK:
        place = urlsplit(url)
        reason = f"{place.hostname}{place.path} answers with {answer.status}"
        raise ProviderUnavailableError(reason=reason)
    return answer


def _object(answer: HTTPAnswer, url: str) -> Claims:
    try:
        found = parse_json(_checked(answer, url).body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ProviderUnavailableError(reason="its answer is not a JSON object")
    return found
