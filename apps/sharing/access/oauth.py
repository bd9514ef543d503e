"""Callers who come by OAuth: clients that trade for access tokens, and identities.

Source: RFC 6749, section 4.4 (client credentials); RFC 7523, section 2.1 (jwt-bearer).
"""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import QuerySet

from apps.accounts.tokens import sha256
from apps.sharing.access.errors import IdentityUnknownError
from apps.sharing.models import RecipientToken, UsedAssertion
from apps.sharing.names import is_storable
from deltaweb.sharing.oauth.access_token import client_of_token, new_access_token
from deltaweb.sharing.oauth.errors import (
    AssertionUsedError,
    ClientRefusedError,
    GrantTypeError,
    JWTRefusedError,
    OAuthRequestError,
)
from deltaweb.sharing.oauth.issuer_keys import IssuerKeys
from deltaweb.sharing.oauth.public_key import check_assertion, parse_public_key
from deltaweb.sharing.oauth.signed_claims import (
    ASYMMETRIC,
    Expected,
    UnknownKeyError,
    checked_claims,
    unchecked_claims,
)

CLIENT_CREDENTIALS: Final = "client_credentials"
JWT_BEARER: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
GROUPS_CLAIM: Final = "groups"

Kind = RecipientToken.Kind


@dataclass(frozen=True, slots=True)
class OAuthServer:
    """What this server is to OAuth clients.

    Attributes:
        issuer: Its address, which its access tokens have as `iss` and `aud`.
        keys: Its keys of access tokens; the first signs.
    """

    issuer: str
    token_endpoint: str
    keys: Sequence[bytes]
    issuers: IssuerKeys


# === Trading for an access token ===


def client_of_request(
    form: Mapping[str, str],
    server: OAuthServer,
    *,
    basic: tuple[str, str] | None,
    now: datetime,
) -> RecipientToken:
    """Return the client that a request for a token proves.

    Args:
        basic: `client_id` and `client_secret` of its `Authorization`, if there.
    """
    grant_type = form.get("grant_type")
    if grant_type == CLIENT_CREDENTIALS:
        given = form.get("client_id", ""), form.get("client_secret", "")
        return _by_secret(*(basic or given))
    if grant_type == JWT_BEARER:
        return _by_assertion(form.get("assertion", ""), server, now=now)
    if grant_type is None:
        raise OAuthRequestError(reason="the request has no grant_type")
    raise GrantTypeError(
        reason=f"grant_type is neither {CLIENT_CREDENTIALS} nor {JWT_BEARER}"
    )


def access_token(
    client: RecipientToken, server: OAuthServer, *, now: datetime
) -> tuple[str, int]:
    """Return an access token of a client, and for how many seconds it is good."""
    return new_access_token(
        client.id,
        keys=server.keys,
        issuer=server.issuer,
        now=now,
        ends_at=client.ends_at,
    )


def _by_secret(client_id: str, secret: str) -> RecipientToken:
    clients = _tokens().filter(kind=Kind.CLIENT_SECRET, token_sha256=sha256(secret))
    client = clients.first() if secret else None
    if client is None or not hmac.compare_digest(
        client.prefix.encode(), client_id.encode()
    ):
        raise ClientRefusedError(reason="the client id or the secret is wrong")
    return client


def _by_assertion(
    assertion: str, server: OAuthServer, *, now: datetime
) -> RecipientToken:
    try:
        client_id = str(unchecked_claims(assertion).get("iss", ""))
        client = (
            _tokens().filter(kind=Kind.PRIVATE_KEY, prefix=_plain(client_id)).first()
        )
        if client is None:
            raise ClientRefusedError(reason="it names an unknown client")
        ends_at = check_assertion(
            assertion,
            parse_public_key(client.public_key),
            client_id=client.prefix,
            audiences=[
                server.issuer,
                server.issuer.rstrip("/"),
                server.token_endpoint,
            ],
            now=now,
        )
    except JWTRefusedError as error:
        raise ClientRefusedError(
            reason=(f"the assertion is not valid: {error.reason}")
        ) from None
    _use_up(assertion, ends_at, now=now)
    return client


def _use_up(assertion: str, ends_at: datetime, *, now: datetime) -> None:
    """Remember an assertion while it is good, so that nobody else trades it.

    What was signed is remembered: some signatures can be written in two ways.
    """
    UsedAssertion.objects.filter(ends_at__lte=now).delete()
    signed, _, _ = assertion.rpartition(".")
    _, is_new = UsedAssertion.objects.get_or_create(
        signed_sha256=sha256(signed), defaults={"ends_at": ends_at}
    )
    if not is_new:
        raise AssertionUsedError(reason="the assertion was used before")


# === Coming in ===


def client_of_bearer(
    token: str, server: OAuthServer, *, now: datetime
) -> RecipientToken:
    """Return the client or identity that a signed token speaks for."""
    issuer = unchecked_claims(token).get("iss")
    if not isinstance(issuer, str):
        raise JWTRefusedError(reason="it has no issuer")
    if issuer != server.issuer:
        return _of_identity(token, _plain(issuer), server, now=now)
    client_id = client_of_token(token, keys=server.keys, issuer=issuer, now=now)
    client = _tokens().filter(id=client_id).first()
    if client is None:
        raise IdentityUnknownError(reason="its client was deleted")
    return client


def _of_identity(
    token: str, issuer: str, server: OAuthServer, *, now: datetime
) -> RecipientToken:
    known = list(_tokens().filter(kind=Kind.FEDERATED, issuer=issuer))
    if not known:
        raise IdentityUnknownError(reason="its issuer is unknown")
    expected = Expected(
        issuer=issuer,
        audiences=sorted({client.audience for client in known}),
        now=now,
    )
    claims = _claims(token, issuer, expected, server.issuers)
    return _known_identity(known, claims, now=now)


def _claims(
    token: str, issuer: str, expected: Expected, issuers: IssuerKeys
) -> dict[str, Any]:
    keys = issuers.get(issuer, now=expected.now)
    try:
        return checked_claims(token, keys, expected, algorithms=ASYMMETRIC)
    except UnknownKeyError:
        renewed = issuers.get(issuer, now=expected.now, renewed=True)
        if renewed is keys:
            raise
        return checked_claims(token, renewed, expected, algorithms=ASYMMETRIC)


def _known_identity(
    known: Sequence[RecipientToken], claims: Mapping[str, Any], *, now: datetime
) -> RecipientToken:
    """Return whom checked claims speak of; what is live goes before what has ended."""
    audiences = _texts(claims.get("aud"))
    subject, groups = claims.get("sub"), _texts(claims.get(GROUPS_CLAIM))
    found = [
        client
        for client in known
        if client.audience in audiences
        and (client.subject == subject if client.subject else client.group in groups)
    ]
    if not found:
        raise IdentityUnknownError(
            reason=("its subject and groups belong to no recipient")
        )
    live = [one for one in found if one.state(now) in RecipientToken.LIVE] or found
    # A subject is somebody; a group, whoever else is in it.
    named = [one for one in live if one.subject] or live
    if len({one.recipient_id for one in named}) > 1:
        raise IdentityUnknownError(reason="its groups belong to several recipients")
    return named[0]


def _tokens() -> QuerySet[RecipientToken]:
    return RecipientToken.objects.select_related("recipient")


def _texts(value: object) -> set[str]:
    values = value if isinstance(value, list) else [value]
    return {one for one in values if isinstance(one, str)}


def _plain(text: str) -> str:
    """Return a text that a database can be asked for; no other is known to it."""
    return text if is_storable(text) else ""
