"""What keeps the sessions of recipients and those of people apart."""

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

GetResponse = Callable[[HttpRequest], HttpResponseBase]
PREFIX: Final = "/portal/"


def own_cookies(get_response: GetResponse) -> GetResponse:
    """Leave a request for the page of a recipient one cookie: that of its session.

    No session of a person, key or CSRF token of one reaches that page. The cookie of a
    recipient reaches no other page.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        name = settings.RECIPIENT_COOKIE_NAME
        is_portal = f"/{request.path_info.lstrip('/')}".startswith(PREFIX)
        request.COOKIES = {
            key: text
            for key, text in request.COOKIES.items()
            if (key == name) == is_portal
        }
        if is_portal:
            request.META.pop("HTTP_AUTHORIZATION", None)
        return get_response(request)

    return middleware
