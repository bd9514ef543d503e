"""Who may open a page: everyone, signed-in users, editors, administrators.

Every page needs a signed-in user unless its view is marked `@public`. The other
decorators raise `RoleRequiredError` and `SessionRequiredError`, which become a 403
page, fragment or JSON. A script may do what its user may and its key is for: the
middleware asks for the scope before a view is called.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Final, ParamSpec, cast

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponseBase

from apps.accounts.errors import (
    RoleRequiredError,
    ScopeRequiredError,
    SessionRequiredError,
)
from apps.accounts.models import APIKey, Scope, User
from apps.pages.actions import KEY_SCOPES, Stamp
from apps.pages.registry import Registry

app_scopes: Registry[tuple[str, Scope]] = Registry(key=lambda one: one[0])
"""The scope that a key needs for what an app changes, where it is not `write`."""
P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]

public = login_not_required
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_KEY: Final = "_api_key"


def signed_in(request: HttpRequest) -> User:
    """Return who is signed in: the middleware lets nobody else come here."""
    return cast("User", request.user)


def _guarded(view: View[P], check: Callable[[HttpRequest], None]) -> View[P]:
    @wraps(view)
    def guarded(
        request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponseBase:
        check(request)
        return view(request, *args, **kwargs)

    return guarded


def editor_required(view: View[P]) -> View[P]:
    """Let editors and administrators in."""
    return _guarded(view, _check_editor)


def admin_required(view: View[P]) -> View[P]:
    """Let administrators in."""
    return _guarded(view, _check_admin)


def session_required(view: View[P]) -> View[P]:
    """Let a signed-in user in, but no script with an API key: it changes accounts."""
    return _guarded(view, check_session)


def _check_editor(request: HttpRequest) -> None:
    if not getattr(request.user, "is_editor", False):
        raise RoleRequiredError(role="an editor or an administrator")


def _check_admin(request: HttpRequest) -> None:
    if not getattr(request.user, "is_admin", False):
        raise RoleRequiredError(role="an administrator")


def check_role(request: HttpRequest, role: str) -> None:
    """See that the user of a request has a role, or one above it."""
    if role == User.Role.ADMIN:
        _check_admin(request)
    elif role == User.Role.EDITOR:
        _check_editor(request)


def check_session(request: HttpRequest) -> None:
    """See that a request is of a signed-in user, not of an API key."""
    if key_of(request) is not None:
        raise SessionRequiredError


# === Requests with an API key ===


def remember_key(request: HttpRequest, key: APIKey) -> None:
    """Keep by which API key alone the user of a request is known."""
    setattr(request, _KEY, key)
    setattr(request, KEY_SCOPES, (key.name, tuple(key.scopes)))


def key_of(request: HttpRequest) -> APIKey | None:
    """Return the API key by which alone the user of a request is known, if any."""
    key: APIKey | None = getattr(request, _KEY, None)
    return key


def scope_of_page(request: HttpRequest, of_change: str = "") -> Scope:
    """Return the scope that a key needs to send a request for a page.

    Args:
        request: The request.
        of_change: The scope of the change that the page makes; "" if it makes none.
    """
    if request.method in SAFE_METHODS:
        return Scope.READ
    if of_change:
        return Scope(of_change)
    match = request.resolver_match
    app_name = "" if match is None else match.app_name
    return dict(app_scopes).get(app_name, Scope.WRITE)


def check_scope_by(stamp: Stamp, needed: Scope) -> None:
    """Refuse a change that is made with a key without a scope, as `check_scope` does.

    It is for changes with a parameter that needs another scope than the others.
    """
    actor = stamp.actor
    if actor.scopes is not None and needed not in actor.scopes:
        raise ScopeRequiredError(
            label=actor.key, scopes=actor.scopes, needed=needed.value
        )


def check_scope(request: HttpRequest, needed: Scope) -> None:
    """Refuse a request by a key without a scope; a session has every scope."""
    key = key_of(request)
    if key is not None and needed not in key.scopes:
        raise ScopeRequiredError(label=key.name, scopes=key.scopes, needed=needed.value)
