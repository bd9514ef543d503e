"""A request for the page of a recipient: who sends it, and how it is answered.

Each request names a session by its cookie. Its token, address and grants are looked at
again, and what is answered is recorded as a call of the recipient.
"""

import hmac
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from http import HTTPStatus
from typing import Concatenate, Final, ParamSpec

from django.conf import settings
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
)
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django_htmx.http import HttpResponseClientRedirect

from apps.accounts.permissions import public
from apps.pages.errors import PageError
from apps.pages.request.addresses import client_address
from apps.sharing.access.browser import session_of
from apps.sharing.access.browser_requests import check_origin, delete_cookie
from apps.sharing.access.callers import note_use
from apps.sharing.api import throttling
from apps.sharing.api.audit import CallRecord
from apps.sharing.api.errors import INTERNAL, Failure, failure_of
from apps.sharing.errors import (
    BrowserReadingError,
    FormRefusedError,
    NotInBrowserError,
    SessionEndedError,
    TokenExpiredError,
    TokenRevokedError,
)
from apps.sharing.models import BrowserSession, Recipient, RecipientToken
from deltaweb.delta.errors import DeltaError
from deltaweb.exports.errors import SheetError
from deltaweb.sharing.errors import PlainFilesAwaitedError, VersionNotReadyError

logger = logging.getLogger(__name__)

P = ParamSpec("P")
HEADERS: Final = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Robots-Tag": "noindex, nofollow",
}
REFRESH_S: Final = "5"  # after which a page that is not ready asks again
SIGN_IN_AGAIN: Final = (
    SessionEndedError,
    NotInBrowserError,
    TokenExpiredError,
    TokenRevokedError,
)
_FORM: Final = b"forms of a recipient's page"


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A request in a session of a recipient.

    Attributes:
        form_token: What a form of this session sends along.
        record: What is recorded of the request.
    """

    session: BrowserSession
    form_token: str
    record: CallRecord
    now: datetime

    @property
    def token(self) -> RecipientToken:
        return self.session.token

    @property
    def recipient(self) -> Recipient:
        return self.session.token.recipient


View = Callable[Concatenate[HttpRequest, Visit, P], HttpResponseBase]


def visitors_page(
    action: str, *, posts: bool = False
) -> Callable[[View[P]], Callable[..., HttpResponseBase]]:
    """Let recipients in who have a session; a form needs the token of the session.

    Args:
        action: The name of the record.
        posts: Whether the address takes forms, and nothing else.
    """

    def wrap(view: View[P]) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        def answered(
            request: HttpRequest, /, *args: P.args, **names: P.kwargs
        ) -> HttpResponseBase:
            record = record_of(request, action, dict(names))
            secret = request.COOKIES.get(settings.RECIPIENT_COOKIE_NAME, "")
            try:
                _check_method(request, posts=posts)
                visit = _enter(request, secret, record)
                response = view(request, visit, *args, **names)
            except SIGN_IN_AGAIN as error:
                return _to_sign_in(request, record, error)
            except Exception as error:  # noqa: BLE001 (it is answered, and logged below)
                response = refused(request, record, error)
            else:
                if not record.is_streamed:
                    record.save(status=response.status_code)
            return response

        return portal_view(answered)

    return wrap


def portal_view(
    view: Callable[..., HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Return a view that is there while recipients may read in the browser.

    It checks forms itself, by a token of the recipient's session.
    """

    @wraps(view)
    def shown(request: HttpRequest, **names: object) -> HttpResponseBase:
        if not settings.BROWSER_READING:
            raise Http404
        response = view(request, **names)
        for name, value in HEADERS.items():
            response.setdefault(name, value)
        return response

    return public(csrf_exempt(shown))


def record_of(
    request: HttpRequest, action: str, names: dict[str, object]
) -> "PortalRecord":
    """Return what is to be recorded of a request."""
    return PortalRecord(
        action=action,
        at=timezone.now(),
        request_id=getattr(request, "id", ""),
        address=client_address(request),
        user_agent=request.headers.get("User-Agent", ""),
        names={
            key: str(text)
            for key, text in names.items()
            if key in {"share", "schema", "table"}
        },
    )


@dataclass(slots=True)
class PortalRecord(CallRecord):
    """The record of a request; that of a stream is written when it ends.

    Attributes:
        is_streamed: Whether the answer writes it itself.
    """

    is_streamed: bool = False


def refused(
    request: HttpRequest, record: CallRecord, error: Exception
) -> HttpResponseBase:
    """Answer a failure with a page, in words that a recipient may read."""
    if isinstance(error, (PageError, BrowserReadingError, SheetError)):
        failure = Failure(
            error.status, INTERNAL.error_code, f"{error.message} {error.hint}".strip()
        )
        code = error.code
    else:
        failure = failure_of(error)
        code = str(failure.error_code)
    if isinstance(error, DeltaError):
        record.detail["error"] = error.code
    if failure.is_fault:
        logger.error("Request %s failed", record.request_id, exc_info=error)
    record.save(status=failure.status, error_code=code)
    is_awaited = isinstance(error, (VersionNotReadyError, PlainFilesAwaitedError))
    waits = is_awaited and request.method == "GET"
    context: dict[str, object] = {
        "failure": failure,
        "is_missing": failure.status == HTTPStatus.NOT_FOUND,
        "waits": waits,
    }
    response = shown(request, "problem.html", context, status=failure.status)
    if waits:
        response["Refresh"] = REFRESH_S
    for name, value in failure.headers.items():
        if name != "WWW-Authenticate":  # a browser would open a window of its own
            response[name] = value
    return response


def shown(
    request: HttpRequest,
    template: str,
    context: dict[str, object],
    *,
    visit: Visit | None = None,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """Render a page of the portal; it has what the bar at its top shows."""
    about: dict[str, object] = {
        "provider": settings.PROVIDER_NAME,
        "provider_contact": settings.PROVIDER_CONTACT,
        "now": timezone.now(),
        "request_id": getattr(request, "id", ""),
        "visit": visit,
    }
    return render(request, f"sharing/portal/{template}", about | context, status=status)


def form_token_of(secret: str) -> str:
    """Return what forms of a session send along, which no other page knows."""
    return hmac.new(secret.encode(), _FORM, "sha256").hexdigest()


def _check_method(request: HttpRequest, *, posts: bool) -> None:
    allowed = {"POST"} if posts else {"GET", "HEAD"}
    if request.method not in allowed:
        raise PageError(
            status=HTTPStatus.METHOD_NOT_ALLOWED,
            code="method-not-allowed",
            message="This address does not take that.",
            hint="Go back to your page.",
        )


def _enter(request: HttpRequest, secret: str, record: CallRecord) -> Visit:
    session = session_of(secret, address=record.address, now=record.at)
    record.token = session.token
    throttling.check_rate(session.token_id)
    form_token = form_token_of(secret)
    if request.method == "POST":
        check_origin(request)
        sent = request.POST.get("form", "").encode("utf-8", "replace")
        if not hmac.compare_digest(sent, form_token.encode()):
            raise FormRefusedError
    note_use(
        session.token,
        address=record.address,
        user_agent=record.user_agent,
        now=record.at,
    )
    return Visit(session=session, form_token=form_token, record=record, now=record.at)


def _to_sign_in(
    request: HttpRequest, record: CallRecord, error: DeltaError
) -> HttpResponseBase:
    """Lead to the page that signs in, which says why."""
    if not isinstance(error, SessionEndedError):
        record.save(status=HTTPStatus.UNAUTHORIZED, error_code="UNAUTHENTICATED")
    url = f"{reverse('portal:sign-in')}?ended={error.code}"
    response: HttpResponseBase
    if "HX-Request" in request.headers:
        response = HttpResponseClientRedirect(url)
    else:
        response = HttpResponseRedirect(url)
    if request.COOKIES.get(settings.RECIPIENT_COOKIE_NAME):
        delete_cookie(response)
    return response
