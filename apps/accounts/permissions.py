"""Who may open a page: everyone, whoever is signed in, editors, administrators.

Every page needs a signed-in user unless its view is marked `@public`. The other two
decorators raise `RoleRequiredError`, which becomes a 403 page, fragment or JSON.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponseBase

from apps.accounts.errors import RoleRequiredError

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]

public = login_not_required


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
