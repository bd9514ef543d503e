"""Who may open a page: everyone, signed-in users, editors, administrators.

Every page needs a signed-in user unless its view is marked `@public`. The other
decorators raise `RoleRequiredError` and `SessionRequiredError`, which become a 403
page, fragment or JSON.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Final, ParamSpec

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponseBase

from deltaweb.web.accounts.errors import RoleRequiredError, SessionRequiredError

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]

public = login_not_required
_BY_KEY: Final = "is_by_api_key"


def editor_required(view: View[P]) -> View[P]:
    """Let editors and administrators in."""

    @wraps(view)
    def guarded(
        request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponseBase:
        if not getattr(request.user, "is_editor", False):
            raise RoleRequiredError(role="an editor or an administrator")
        return view(request, *args, **kwargs)

    return guarded


def admin_required(view: View[P]) -> View[P]:
    """Let administrators in."""

    @wraps(view)
    def guarded(
        request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponseBase:
        if not getattr(request.user, "is_admin", False):
            raise RoleRequiredError(role="an administrator")
        return view(request, *args, **kwargs)

    return guarded


def session_required(view: View[P]) -> View[P]:
    """Let a signed-in user in, but no script with an API key: it changes accounts."""

    @wraps(view)
    def guarded(
        request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponseBase:
        if came_by_key(request):
            raise SessionRequiredError
        return view(request, *args, **kwargs)

    return guarded


def mark_as_by_key(request: HttpRequest) -> None:
    """Remember that the user of a request is known by an API key alone."""
    setattr(request, _BY_KEY, True)


def came_by_key(request: HttpRequest) -> bool:
    """Whether the user of a request is known by an API key alone."""
    return getattr(request, _BY_KEY, False)
