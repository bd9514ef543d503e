"""Where signing out leads: the provider or the proxy has a session of its own."""

from typing import Final
from urllib.parse import urlencode, urljoin

from django.conf import settings
from django.http import HttpRequest
from django.shortcuts import resolve_url
from django.utils import timezone

from apps.accounts.errors import ProviderUnavailableError
from apps.accounts.sign_on.provider import document
from apps.accounts.sign_on.proxy_sessions import DIGEST
from deltaweb.environment.sign_on import origins_of

SIGN_ON: Final = "sign_on"
"""The id token of a session that a provider began, by this name in the session."""


def way_out(request: HttpRequest) -> str:
    """Return the address that ends the session elsewhere; empty for none."""
    if DIGEST in request.session:
        return str(settings.REMOTE_SIGN_OUT_URL)
    id_token = request.session.get(SIGN_ON)
    if not id_token or not settings.OIDC_ISSUER:
        return ""
    try:
        address = document(timezone.now()).end_session_endpoint
    except ProviderUnavailableError:
        return ""
    # A button may lead to the issuer's origin alone (Content-Security-Policy).
    if not address or origins_of(address) != origins_of(settings.OIDC_ISSUER):
        return ""
    back = urljoin(settings.PUBLIC_URL, resolve_url("accounts:sign-in"))
    query = {
        "id_token_hint": id_token,
        "client_id": settings.OIDC_CLIENT_ID,
        "post_logout_redirect_uri": back,
    }
    return f"{address}{'&' if '?' in address else '?'}{urlencode(query)}"
