"""The code flow of OpenID Connect: `mozilla-django-oidc`, with our own checks.

The package makes state, nonce and PKCE, and keeps them in the session. It does not
check the audience, the issuer and the expiry of an id token, nor compare the subject
of userinfo, and finds people by e-mail: all of that is done here.

Source: OpenID Connect Core 1.0, sections 3.1.3.7 and 5.3.2.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from mozilla_django_oidc.auth import OIDCAuthenticationBackend
from mozilla_django_oidc.views import (
    OIDCAuthenticationCallbackView,
    OIDCAuthenticationRequestView,
)

from apps.accounts.errors import SignOnFailedError
from apps.accounts.models import Identity
from apps.accounts.sign_on.admission import rules_of_settings
from apps.accounts.sign_on.claims import is_text, person_of
from apps.accounts.sign_on.people import sign_on
from apps.accounts.sign_on.provider import (
    claims_of,
    document,
    redirect_uri,
    trade,
    userinfo,
)
from apps.pages.actions import stamp_of
from deltaweb.sharing.oauth.signed_claims import Claims, Expected

MAX_LIFE: Final = timedelta(days=1)  # of an id token
SIGNED_ON: Final = "_signed_on"
_ENDPOINTS: Final = {
    "OIDC_OP_AUTHORIZATION_ENDPOINT": "authorization_endpoint",
    "OIDC_OP_TOKEN_ENDPOINT": "token_endpoint",
    "OIDC_OP_USER_ENDPOINT": "userinfo_endpoint",
    "OIDC_OP_JWKS_ENDPOINT": "jwks_uri",
}


@dataclass(frozen=True, slots=True)
class SignedOn:
    """A sign-on that a session begins with.

    Attributes:
        sid: The provider's name of its session; empty if it gave none.
    """

    identity: Identity
    sid: str
    id_token: str


def option(name: str, *default: object) -> object:
    """Return what the package reads from Django's settings."""
    if name in _ENDPOINTS:
        return getattr(document(timezone.now()), _ENDPOINTS[name])
    values = {
        "OIDC_RP_CLIENT_ID": settings.OIDC_CLIENT_ID,
        "OIDC_RP_CLIENT_SECRET": settings.OIDC_CLIENT_SECRET,
        "OIDC_RP_SCOPES": settings.OIDC_SCOPES,
        "OIDC_RP_SIGN_ALGO": "RS256",  # `verify_token` chooses by the key
        "OIDC_USE_PKCE": True,
        "OIDC_USE_NONCE": True,
        "OIDC_AUTHENTICATION_CALLBACK_URL": "accounts:sso-callback",
    }
    return values[name] if name in values else default[0]


class Backend(OIDCAuthenticationBackend):  # type: ignore[misc]  # it has no types
    """Trades a code, checks the tokens, and finds or makes the account."""

    get_settings = staticmethod(option)

    def __init__(self) -> None:
        """Look nothing up: Django makes one for each check of a password, too."""

    def authenticate(self, request: HttpRequest | None, **given: object) -> object:
        """Sign in by the code of a request; of other ways to sign in it knows nothing.

        Returns:
            The user, or None.
        """
        if not settings.OIDC_ISSUER or request is None or not given.get("nonce"):
            return None
        super().__init__()
        return super().authenticate(request, **given)

    def get_token(self, payload: Mapping[str, str]) -> Claims:
        """Trade a code for tokens."""
        form = {**payload, "redirect_uri": redirect_uri()}
        tokens = trade(form, provider=document(timezone.now()))
        if not isinstance(tokens.get("id_token"), str):
            raise SignOnFailedError(reason="the provider gave no id token")
        return tokens

    def verify_token(self, token: str, **given: object) -> Claims:
        """Check an id token."""
        expected = Expected(
            issuer=settings.OIDC_ISSUER,
            audiences=[settings.OIDC_CLIENT_ID],
            now=timezone.now(),
            max_life=MAX_LIFE,
            client=settings.OIDC_CLIENT_ID,
            nonce=str(given.get("nonce") or ""),
        )
        claims = claims_of(token, expected)
        if not isinstance(claims.get("sub"), str) or not claims["sub"]:
            raise SignOnFailedError(reason="the id token has no subject")
        return claims

    def get_or_create_user(
        self, access_token: object, id_token: str, payload: Claims
    ) -> object:
        """Return the account of a person who is admitted."""
        said: Claims = {}
        provider = document(timezone.now())
        if provider.userinfo_endpoint and isinstance(access_token, str):
            said = userinfo(access_token, provider=provider)
            if said.get("sub") != payload["sub"]:
                raise SignOnFailedError(reason="userinfo is of another person")
        person = person_of(payload, said)
        identity = sign_on(person, rules_of_settings(), stamp_of(self.request))
        sid = payload.get("sid")
        signed_on = SignedOn(identity, str(sid) if is_text(sid) else "", id_token)
        setattr(self.request, SIGNED_ON, signed_on)
        return identity.user


class Begin(OIDCAuthenticationRequestView):  # type: ignore[misc]  # it has no types
    """Leads to the provider."""

    get_settings = staticmethod(option)

    def get_extra_params(self, request: HttpRequest) -> dict[str, str]:
        """Return our own address, because callers choose the `Host` of a request."""
        del request
        return {"redirect_uri": redirect_uri()}


class Return(OIDCAuthenticationCallbackView):  # type: ignore[misc]  # it has no types
    """Takes a person back from the provider."""

    get_settings = staticmethod(option)

    def login_success(self) -> SignedOn:
        """Return the sign-on; the page begins the session."""
        found = getattr(self.request, SIGNED_ON, None)
        if not isinstance(found, SignedOn):
            raise SignOnFailedError(reason="another way of signing in answered")
        return found

    def login_failure(self) -> SignedOn:
        """Refuse what is no answer to a sign-in that began here."""
        raise SignOnFailedError(reason="it did not begin in this browser")
