"""Who a request comes from: an API key or a session, and a session for every page."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import MiddlewareNotUsed
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
)
from django.shortcuts import resolve_url
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django_htmx.http import HttpResponseClientRedirect

from apps.accounts import selectors
from apps.accounts.errors import (
    APIKeyExpiredError,
    APIKeySuspendedError,
    APIKeyUnknownError,
    RoleRequiredError,
    ScopeRequiredError,
    SessionRequiredError,
    SignInRequiredError,
)
from apps.accounts.lifetimes.local_accounts import may_have_session
from apps.accounts.lifetimes.sessions import is_over
from apps.accounts.models import User
from apps.accounts.permissions import (
    check_role,
    check_scope,
    check_session,
    key_of,
    remember_key,
    scope_of_page,
)
from apps.accounts.sign_on.header import is_page, person_of
from apps.accounts.sign_on.proxy_sessions import follow_proxy, leave_proxy_session
from apps.accounts.sign_on.way_out import SIGN_ON
from apps.operate.errors import SwitchedOffError
from apps.pages.errors import PageError, error_response, json_error, wants_json
from apps.pages.request.django_internals import need_no_csrf_token

GetResponse = Callable[[HttpRequest], HttpResponseBase]
SCHEME = "bearer"
# Recipients' tokens are for the protocols, and none signs in to a recipient's page.
OTHER_BEARERS = ("/delta-sharing/", "/iceberg/", "/portal/")


def remote_user(get_response: GetResponse) -> GetResponse:
    """Let an authenticating proxy say who sends a request for a page.

    The header decides in each request: without it, the session that it began ends.
    """
    if not settings.REMOTE_USER_HEADER:
        raise MiddlewareNotUsed

    def middleware(request: HttpRequest) -> HttpResponseBase:
        try:
            person = person_of(request)
            if is_page(request) and "Authorization" not in request.headers:
                follow_proxy(request, person)
            else:
                leave_proxy_session(request)
        except PageError as error:
            return error_response(request, error)
        return get_response(request)

    return middleware


def bounded_sessions(get_response: GetResponse) -> GetResponse:
    """End a session that is too old, or of a local account while these are off."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        user = request.user

        def user_in_time() -> AbstractBaseUser | AnonymousUser:
            if not isinstance(user, User):
                return user
            is_late = is_over(request.session, timezone.now())
            return user if may_have_session(user) and not is_late else AnonymousUser()

        request.user = cast("User", SimpleLazyObject(user_in_time))
        return get_response(request)

    return middleware


def api_key_authentication(get_response: GetResponse) -> GetResponse:
    """Take the user from `Authorization: Bearer KEY`, for this request alone.

    A browser never sends that header by itself, so such a request needs no CSRF
    token; a session that came along is left aside. A wrong key is a 401 even where
    a session would have been enough: a script must not go on as somebody else.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != SCHEME or request.path_info.startswith(OTHER_BEARERS):
            return get_response(request)
        try:
            key = selectors.key_of_secret(secret.strip(), now=timezone.now())
        except (
            APIKeyUnknownError,
            APIKeyExpiredError,
            APIKeySuspendedError,
        ) as error:
            return unauthorized(request, error)
        except SwitchedOffError as error:
            return error_response(request, error)
        request.user = key.user
        remember_key(request, key)
        need_no_csrf_token(request)
        response = get_response(request)
        if "ETag" not in response:  # what has one is asked about again each time
            response["Cache-Control"] = "no-store"
        return response

    return middleware


class SignInRequiredMiddleware:
    """Answers for every page that is not `@public` when nobody is signed in."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on; what a user sees is not for shared caches."""
        response = self.get_response(request)
        if request.user.is_authenticated and "Cache-Control" not in response:
            response["Cache-Control"] = "private, no-cache"
        if request.user.is_authenticated and key_of(request) is None:
            selectors.note_seen(request.user, now=timezone.now())
        return response

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., HttpResponseBase],
        args: list[Any],
        kwargs: dict[str, Any],
    ) -> HttpResponseBase | None:
        """Ask for a sign-in in the form that the request understands, or a scope."""
        del args, kwargs
        if not getattr(view, "login_required", True):
            return None
        if request.user.is_authenticated:
            return _refusal(request, view)
        here = request.get_full_path() if request.method == "GET" else _start()
        if wants_json(request) or _is_stream(request):
            error = SignInRequiredError()
            error.facts = {"sign_in_url": _sign_in_url(request, _page_of(request))}
            return unauthorized(request, error)
        if "HX-Request" in request.headers:
            away = HttpResponseClientRedirect(_sign_in_url(request, _page_of(request)))
            away.status_code = HTTPStatus.UNAUTHORIZED
            return away
        return HttpResponseRedirect(_sign_in_url(request, here))


sign_in_required = SignInRequiredMiddleware


def unauthorized(request: HttpRequest, error: PageError) -> HttpResponse:
    """Answer 401 as JSON and say which scheme would do."""
    response = json_error(request, error)
    response["WWW-Authenticate"] = 'Bearer realm="deltaweb"'
    return response


def _refusal(
    request: HttpRequest, view: Callable[..., HttpResponseBase]
) -> HttpResponseBase | None:
    """Refuse a user without the role of a view, and a key without its scope.

    A view with `checks_scope` checks the scope itself. A change's view has a `role` and
    a `scope`, and some need a session.
    """
    role = getattr(view, "role", User.Role.VIEWER)
    try:
        if getattr(view, "needs_session", False):  # no scope of a key is enough
            check_role(request, role)
            check_session(request)
        if not getattr(view, "checks_scope", False):
            check_scope(request, scope_of_page(request, getattr(view, "scope", "")))
        check_role(request, role)
    except (RoleRequiredError, ScopeRequiredError, SessionRequiredError) as error:
        return error_response(request, error)
    return None


def _sign_in_url(request: HttpRequest, next_path: str) -> str:
    """Return where to sign in: at the provider that began the session before."""
    is_renewed = bool(settings.OIDC_ISSUER) and SIGN_ON in request.session
    page = reverse("accounts:sso" if is_renewed else "accounts:sign-in")
    return f"{page}?{urlencode({'next': next_path}, safe='/')}"


def _is_stream(request: HttpRequest) -> bool:
    """Whether an answer would be a stream of events, which shows no page."""
    return "text/event-stream" in request.headers.get("Accept", "")


def _start() -> str:
    return resolve_url(settings.LOGIN_REDIRECT_URL)


def _page_of(request: HttpRequest) -> str:
    """Return the path of the page that htmx asks from, not of the fragment."""
    current = urlsplit(request.headers.get("HX-Current-URL", ""))
    if not current.path.startswith("/"):
        return _start()
    return f"{current.path}?{current.query}" if current.query else current.path
