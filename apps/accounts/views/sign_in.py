"""Signing in and out."""

from typing import Any

from django.conf import settings
from django.contrib.auth import login, logout
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts import services
from apps.accounts.errors import (
    LocalAccountsOffError,
    PasswordsBusyError,
    SignInError,
    SignInLinkUsedError,
    TooManySignInsError,
)
from apps.accounts.models import User
from apps.accounts.permissions import public
from apps.accounts.sign_on.way_out import way_out
from apps.accounts.views.forms import SignInForm
from apps.news.publishing import publish
from apps.news.topics import of_session
from apps.pages.actions import stamp_of
from apps.pages.errors import PageError
from apps.pages.request.addresses import is_from_this_machine

BACKEND = "django.contrib.auth.backends.ModelBackend"
SPECULATION_HEADERS = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")
# What a browser says of a page that it opens. The preview of a chat does not say it,
# and a proxy of the same machine may pass the preview on without a header of its own.
OPENING = (("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document"))


@public
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponseBase:
    """Ask for name and password, and say how to get a link."""
    next_url = safe_next(request)
    if request.method != "POST":
        if request.user.is_authenticated:
            return redirect(next_url)
        return _page(request, next_url=next_url)
    form = SignInForm(request.POST)
    if not form.is_valid():
        error = PageError(
            status=422,
            code="sign-in-incomplete",
            message="Enter a name and a password.",
        )
        return _page(request, next_url=next_url, error=error)
    name = form.cleaned_data["name"]
    try:
        user = services.sign_in(
            request,
            name=name,
            password=form.cleaned_data["password"],
            stamp=stamp_of(request),
        )
    except (
        SignInError,
        TooManySignInsError,
        PasswordsBusyError,
        LocalAccountsOffError,
    ) as failure:
        return _page(request, next_url=next_url, error=failure, name=name)
    begin_session(request, user)
    return redirect(next_url)


@public
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def use_link(request: HttpRequest, token: str) -> HttpResponseBase:
    """Show a button that signs in by a link; POST signs in.

    GET and HEAD leave the link unspent, because chats and mail filters open links for
    a preview. The exception is the link that a start prints, opened on this machine.
    A user who is signed in by the link already goes on to the page.
    """
    if request.method == "HEAD":
        return _private(HttpResponse())
    stamp = stamp_of(request)
    try:
        if request.method == "GET":
            link = services.find_sign_in_link(token=token, stamp=stamp)
            if not (link.is_one_click and _is_click_here(request)):
                context = {"name": link.user.username, "next": safe_next(request)}
                return _private(render(request, "accounts/use_link.html", context))
        user = services.use_sign_in_link(token=token, stamp=stamp)
    except SignInLinkUsedError:
        if request.user != services.user_of_link(token=token):
            raise
        return _private(redirect(safe_next(request)))
    begin_session(request, user)
    return _private(redirect(safe_next(request)))


@public
@require_POST
def sign_out(request: HttpRequest) -> HttpResponseBase:
    """End the session, and what its pages hear; go on to the provider or the proxy."""
    session = of_session(request.session.session_key)
    away = way_out(request)
    logout(request)
    publish(session)
    return redirect(away or "accounts:sign-in")


def safe_next(request: HttpRequest) -> str:
    """Return where to go after signing in: a path of this site, or the dashboard."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    is_ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts=None, require_https=request.is_secure()
    )
    # `allowed_hosts=None` leaves paths alone, so a spoofed Host header is no way out.
    # Without a slash, `redirect` would look for a view of that name.
    is_path = is_ours and wanted.startswith("/")
    return wanted if is_path else resolve_url(settings.LOGIN_REDIRECT_URL)


def _is_click_here(request: HttpRequest) -> bool:
    """Whether a person on this machine follows a link, rather than a browser ahead."""
    headers = request.headers
    is_ahead = any(header in headers for header in SPECULATION_HEADERS)
    is_opening = all(headers.get(name) == value for name, value in OPENING)
    return is_opening and not is_ahead and is_from_this_machine(request)


def begin_session(request: HttpRequest, user: User) -> None:
    """Sign a user in; what pages of the session before hear ends with that."""
    before = of_session(request.session.session_key)
    login(request, user, backend=BACKEND)
    publish(before)


def _page(
    request: HttpRequest,
    *,
    next_url: str,
    error: PageError | None = None,
    name: str = "",
) -> HttpResponse:
    context: dict[str, Any] = {
        "next": next_url,
        "error": error,
        "name": name,
        "has_passwords": settings.LOCAL_ACCOUNTS == "true",
        "provider": settings.OIDC_LABEL if settings.OIDC_ISSUER else "",
    }
    status = error.status if error else 200
    return render(request, "accounts/sign_in.html", context, status=status)


def _private(response: HttpResponseBase) -> HttpResponseBase:
    """Keep the link's address from the next page and from every cache.

    With `no-referrer` a browser would send the form with `Origin: null`, which the
    check against forged requests refuses.
    """
    response["Referrer-Policy"] = "strict-origin"
    response["Cache-Control"] = "no-store"
    return response
