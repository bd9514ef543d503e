"""The signed-in user of a request, typed."""

from typing import cast

from django.http import HttpRequest

from deltaweb.web.accounts.models import User


def signed_in_user(request: HttpRequest) -> User:
    """Return the user of a page that needs one; the middleware has seen to it."""
    return cast("User", request.user)
