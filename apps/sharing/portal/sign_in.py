"""Signing in to the page of a recipient by its token, and signing out."""

import json
import time
from datetime import datetime
from http import HTTPStatus
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse

from apps.pages.request.addresses import network_of
from apps.pages.request.rate_limits import RateLimit
from apps.sharing.access.browser import end_by_secret, end_session, open_session
from apps.sharing.access.browser_requests import (
    check_origin,
    delete_cookie,
    set_cookie,
)
from apps.sharing.access.callers import authenticate
from apps.sharing.api.audit import CallRecord
from apps.sharing.api.errors import failure_of
from apps.sharing.errors import (
    AccessError,
    FormRefusedError,
    NotInBrowserError,
    TokenUnknownError,
)
from apps.sharing.models import BrowserSession
from apps.sharing.portal.visit import (
    Visit,
    portal_view,
    record_of,
    refused,
    shown,
    visitors_page,
)
from deltaweb.sharing.errors import TooManyRequestsError

MAX_PROFILE_BYTES: Final = 65_536
ATTEMPTS: Final = RateLimit(file="rates-portal", rate_per_s=0.2, burst=20)
_ENDED: Final = {
    "not-in-browser": NotInBrowserError.message,
    "token-expired": "Your token has expired, so your session has ended.",
    "token-revoked": "Your token was revoked, so your session has ended.",
    "session-ended": "Sign in to see what is shared with you.",
}


@portal_view
def sign_in(request: HttpRequest) -> HttpResponseBase:
    """Ask for a token, or begin a session with the one that is sent."""
    if request.method != "POST":
        said = _ENDED.get(request.GET.get("ended", ""), "")
        return shown(request, "sign_in.html", {"said": said})
    record = record_of(request, "portal.sign_in", {})
    try:
        check_origin(request)
        _check_rate(record.address)
        return _signed_in(request, record, now=record.at)
    except (FormRefusedError, TooManyRequestsError) as error:
        record.is_recorded = False  # anybody could fill the record with those
        return refused(request, record, error)
    except AccessError as error:
        failure = failure_of(error)
        record.save(status=failure.status, error_code=str(failure.error_code))
        return shown(
            request, "sign_in.html", {"failure": failure}, status=failure.status
        )


@visitors_page("portal.sign_out", posts=True)
def sign_out(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """End the session."""
    del request
    end_session(visit.session, now=visit.now)
    response = HttpResponseRedirect(reverse("portal:sign-in"))
    delete_cookie(response)
    return response


def _signed_in(
    request: HttpRequest, record: CallRecord, *, now: datetime
) -> HttpResponseBase:
    token = authenticate(_secret(request), now=now)
    record.token = token
    session, secret = open_session(
        token, by=BrowserSession.OpenedBy.TOKEN, address=record.address, now=now
    )
    # A session that the browser had before is not taken over.
    if before := request.COOKIES.get(settings.RECIPIENT_COOKIE_NAME):
        end_by_secret(before, now=now)
    record.save(status=HTTPStatus.OK)
    response = HttpResponseRedirect(reverse("portal:tables"))
    set_cookie(response, session, secret, now=now)
    return response


def _secret(request: HttpRequest) -> str:
    """Return the token of the form: typed, pasted as a profile, or in its file."""
    text = request.POST.get("token", "").strip()
    profile = request.FILES.get("profile")
    if profile is not None and profile.size and profile.size <= MAX_PROFILE_BYTES:
        text = text or profile.read().decode("utf-8", "replace").strip()
    if text.startswith("{"):
        try:
            text = str(json.loads(text[:MAX_PROFILE_BYTES])["bearerToken"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise TokenUnknownError from None
    if not text:
        raise TokenUnknownError
    return text


def _check_rate(address: str) -> None:
    wait_s = ATTEMPTS.take(network_of(address).encode(), now_s=time.monotonic())
    if wait_s > 0:
        raise TooManyRequestsError(wait_s=wait_s)
