"""Who calls: the recipient of the bearer token, from an address that it allows."""

from datetime import datetime

from deltaweb.sharing.errors import CredentialsMissingError
from deltaweb.web.accounts.tokens import sha256
from deltaweb.web.sharing.access import callers as access
from deltaweb.web.sharing.models import RecipientToken

SCHEME = "bearer"


def bearer_secret(header: str) -> str:
    """Return the token of an `Authorization` header.

    Raises:
        CredentialsMissingError: If it holds none.

    Source: RFC 6750, section 2.1.
    """
    scheme, _, secret = header.strip().partition(" ")
    if scheme.lower() != SCHEME or not secret.strip():
        raise CredentialsMissingError
    return secret.strip()


def ended_token(header: str) -> RecipientToken | None:
    """Return the token that came and has ended, to record whose it was."""
    tokens = RecipientToken.objects.select_related("recipient")
    return tokens.filter(token_sha256=sha256(bearer_secret(header))).first()


def authenticate(header: str, *, now: datetime) -> RecipientToken:
    """Return the token that came with a request.

    Raises:
        CredentialsMissingError: If none came.
        AccessError: If it is unknown, expired or revoked.
    """
    return access.authenticate(bearer_secret(header), now=now)
