"""The cookie of a recipient's session, and where the forms of its pages come from."""

from datetime import datetime

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from apps.sharing.errors import FormRefusedError
from apps.sharing.models import BrowserSession


def set_cookie(
    response: HttpResponseBase, session: BrowserSession, secret: str, *, now: datetime
) -> None:
    """Let a browser hold the secret of a session, for as long as it lasts."""
    response.set_cookie(
        settings.RECIPIENT_COOKIE_NAME,
        secret,
        max_age=max(0, int((session.open_until - now).total_seconds())),
        path=settings.RECIPIENT_COOKIE_PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def delete_cookie(response: HttpResponseBase) -> None:
    """Let a browser forget its session."""
    response.delete_cookie(
        settings.RECIPIENT_COOKIE_NAME,
        path=settings.RECIPIENT_COOKIE_PATH,
        samesite="Lax",
    )


def check_origin(request: HttpRequest) -> None:
    """Refuse a form that a page of another address has sent.

    A browser says where a form is from, and a page cannot make it say otherwise.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        is_own = site == "same-origin"
    else:
        host = f"{request.scheme}://{request.get_host()}"
        is_own = request.headers.get("Origin") in {host, *settings.CSRF_TRUSTED_ORIGINS}
    if not is_own:
        raise FormRefusedError
