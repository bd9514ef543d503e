"""Who calls: the recipient of the bearer token, or of the client that traded for it."""

from datetime import datetime
from functools import cache
from typing import Final

from django.conf import settings
from joserfc.jwk import KeySet

from apps.sharing.access import callers as access
from apps.sharing.access import oauth
from apps.sharing.api.keys import access_token_keys
from apps.sharing.models import RecipientToken
from apps.tables.storage.documents import fetch_document
from deltaweb.sharing.errors import CredentialsMissingError
from deltaweb.sharing.oauth.issuer_documents import fetch_keys
from deltaweb.sharing.oauth.issuer_keys import Ask, IssuerKeys
from deltaweb.sharing.oauth.signed_claims import looks_signed

SCHEME: Final = "bearer"
ISSUER_PATH: Final = "/delta-sharing/"
TOKEN_PATH: Final = f"{ISSUER_PATH}oauth/token"


def asked_for(allowed_hosts: tuple[str, ...]) -> Ask:
    """Return what asks issuers on hosts that the server may ask."""

    def ask(issuer: str) -> KeySet:
        return fetch_keys(
            issuer, fetch=lambda url: fetch_document(url, allowed=allowed_hosts)
        )

    return ask


def bearer_secret(header: str) -> str:
    """Return the token of an `Authorization` header.

    Source: RFC 6750, section 2.1.
    """
    scheme, _, secret = header.strip().partition(" ")
    if scheme.lower() != SCHEME or not secret.strip():
        raise CredentialsMissingError
    return secret.strip()


def identify(header: str, *, now: datetime) -> RecipientToken:
    """Return what a caller has proved itself by, be it good or ended."""
    secret = bearer_secret(header)
    if looks_signed(secret):
        return oauth.client_of_bearer(secret, oauth_server(), now=now)
    return access.bearer_token(secret)


def oauth_server() -> oauth.OAuthServer:
    """Return what this server is to OAuth clients."""
    return oauth.OAuthServer(
        issuer=settings.PUBLIC_URL + ISSUER_PATH,
        token_endpoint=settings.PUBLIC_URL + TOKEN_PATH,
        keys=access_token_keys(),
        issuers=_issuers(tuple(settings.STORAGE_HOSTS)),
    )


def forget_issuers() -> None:
    """Forget the keys of issuers that this process has asked for."""
    _issuers.cache_clear()


@cache
def _issuers(allowed_hosts: tuple[str, ...]) -> IssuerKeys:
    return IssuerKeys(asked_for(allowed_hosts))
