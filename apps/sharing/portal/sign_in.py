"""Signing in to the page of a recipient by its token, and signing out."""

import json
import time
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse

from apps.news.mails import mail_is_set_up
from apps.pages.request.addresses import network_of
from apps.pages.request.rate_limits import RateLimit
from apps.sharing.access import oauth
from apps.sharing.access.browser import (
    MAX_LENGTH,
    end_by_secret,
    end_session,
    open_session,
)
from apps.sharing.access.browser_requests import (
    check_origin,
    delete_cookie,
    set_cookie,
)
from apps.sharing.access.callers import authenticate
from apps.sharing.api.audit import CallRecord
from apps.sharing.api.authentication import SCHEME, identify, oauth_server
from apps.sharing.api.errors import failure_of
from apps.sharing.errors import (
    AccessError,
    FormRefusedError,
    NotInBrowserError,
    TokenUnknownError,
)
from apps.sharing.models import BrowserSession, RecipientToken
from apps.sharing.portal.visit import (
    Visit,
    portal_view,
    record_of,
    refused,
    shown,
    visitors_page,
)
from deltaweb.sharing.errors import SharingError, TooManyRequestsError
from deltaweb.sharing.oauth.signed_claims import looks_signed

MAX_PROFILE_BYTES: Final = 65_536
BY_ACCESS_TOKEN: Final = timedelta(hours=1)
ATTEMPTS: Final = RateLimit(file="rates-portal", rate_per_s=0.2, burst=20)
_SAID: Final = {
    "mail-sent": (
        "If this address can sign in, a mail with a link is on its way. The link works "
        "once, within 15 minutes. An address gets three mails in an hour at most."
    ),
    "not-in-browser": NotInBrowserError.message,
    "token-expired": "Your token has expired, so your session has ended.",
    "token-revoked": "Your token was revoked, so your session has ended.",
    "session-ended": "Sign in to see what is shared with you.",
}


@portal_view
def sign_in(request: HttpRequest) -> HttpResponseBase:
    """Ask for a token, or begin a session with the one that is sent."""
    if request.method != "POST":
        said = _SAID.get(request.GET.get("ended", ""), "")
        return form(request, {"said": said})
    record = record_of(request, "portal.sign_in", {})
    try:
        check_origin(request)
        check_attempts(record.address)
        return _signed_in(request, record, now=record.at)
    except (FormRefusedError, TooManyRequestsError) as error:
        record.is_recorded = False  # anybody could fill the record with those
        return refused(request, record, error)
    except (AccessError, SharingError) as error:
        failure = failure_of(error)
        record.save(status=failure.status, error_code=str(failure.error_code))
        return form(request, {"failure": failure}, status=failure.status)


def check_attempts(address: str) -> None:
    """Limit how often a network tries to sign in.

    Raises:
        TooManyRequestsError: If it has to wait.
    """
    wait_s = ATTEMPTS.take(network_of(address).encode(), now_s=time.monotonic())
    if wait_s > 0:
        raise TooManyRequestsError(wait_s=wait_s)


@visitors_page("portal.sign_out", posts=True)
def sign_out(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """End the session."""
    del request
    end_session(visit.session, now=visit.now)
    response = HttpResponseRedirect(reverse("portal:sign-in"))
    delete_cookie(response)
    return response


def form(
    request: HttpRequest, context: dict[str, object], *, status: int = HTTPStatus.OK
) -> HttpResponseBase:
    """Show the page that signs in; it takes an address if the server sends mail."""
    about = {"takes_mail": mail_is_set_up()} | context
    return shown(request, "sign_in.html", about, status=status)


def _signed_in(
    request: HttpRequest, record: CallRecord, *, now: datetime
) -> HttpResponseBase:
    token, longest = _proved(request, now=now)
    record.token = token
    opened = open_session(
        token,
        by=BrowserSession.OpenedBy.TOKEN,
        address=record.address,
        now=now,
        longest=longest,
    )
    return begin(request, record, opened)


def begin(
    request: HttpRequest, record: CallRecord, opened: tuple[BrowserSession, str]
) -> HttpResponseBase:
    """Give a browser a session that was opened, and lead to its tables."""
    session, secret = opened
    now = record.at
    # A session that the browser had before is not taken over.
    if before := request.COOKIES.get(settings.RECIPIENT_COOKIE_NAME):
        end_by_secret(before, now=now)
    record.save(status=HTTPStatus.OK)
    response = HttpResponseRedirect(reverse("portal:tables"))
    set_cookie(response, session, secret, now=now)
    return response


def _proved(request: HttpRequest, *, now: datetime) -> tuple[RecipientToken, timedelta]:
    """Return what the form proves, and how long a session may last by that.

    A bearer token, the profile of an OAuth client with a secret, or an access token,
    which is good for an hour itself.
    """
    text = _text_of(request)
    if text.startswith("{"):
        profile = _profile_of(text)
        if "clientSecret" in profile:
            form = {
                "grant_type": oauth.CLIENT_CREDENTIALS,
                "client_id": str(profile.get("clientId", "")),
                "client_secret": str(profile["clientSecret"]),
            }
            client = oauth.client_of_request(form, oauth_server(), basic=None, now=now)
            return client, MAX_LENGTH
        text = str(profile.get("bearerToken", ""))
    if not text:
        raise TokenUnknownError
    if looks_signed(text):
        return identify(f"{SCHEME} {text}", now=now), BY_ACCESS_TOKEN
    return authenticate(text, now=now), MAX_LENGTH


def _profile_of(text: str) -> dict[str, object]:
    try:
        profile = json.loads(text[:MAX_PROFILE_BYTES])
    except (ValueError, RecursionError):
        raise TokenUnknownError from None
    return profile if isinstance(profile, dict) else {}


def _text_of(request: HttpRequest) -> str:
    """Return what was typed or pasted, or else the text of the file."""
    text = request.POST.get("token", "").strip()
    profile = request.FILES.get("profile")
    if not text and profile is not None and (profile.size or 0) <= MAX_PROFILE_BYTES:
        return str(profile.read(), "utf-8", "replace").strip()
    return text
