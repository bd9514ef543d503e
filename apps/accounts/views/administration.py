"""Administration of users; administrators alone."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect

from apps.accounts import selectors, services
from apps.accounts.forms import NewUserForm, RoleForm
from apps.accounts.models import User
from apps.accounts.permissions import (
    admin_required,
    session_required,
    signed_in,
)
from apps.pages.actions import Stamp, stamp_of
from apps.pages.errors import PageError


@admin_required
def user_list(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """List the accounts."""
    return _page(request, fmt)


@admin_required
@session_required
def add_user(request: HttpRequest) -> HttpResponseBase:
    """Make an account and show its first sign-in link."""
    form = NewUserForm(request.POST)
    if not form.is_valid():
        message = "Give a name of up to 150 characters and a role."
        return _page(request, error=_invalid(message))
    try:
        user = services.create_user(**form.cleaned_data, stamp=stamp_of(request))
    except PageError as error:
        return _page(request, error=error)
    return _with_link(request, user)


@admin_required
@session_required
def make_link(request: HttpRequest, user_id: int) -> HttpResponseBase:
    """Make a sign-in link and show it, this once."""
    return _with_link(request, get_object_or_404(User, id=user_id))


@admin_required
@session_required
def set_role(request: HttpRequest, user_id: int) -> HttpResponseBase:
    """Change what a user may do."""
    form = RoleForm(request.POST)
    if not form.is_valid():
        return _page(request, error=_invalid("Choose one of the roles."))
    role = form.cleaned_data["role"]
    return _change(
        request,
        user_id,
        lambda user, stamp: services.set_role(user=user, role=role, stamp=stamp),
        said="{0} is now {1}. It counts from the next request.",
    )


@admin_required
@session_required
def disable_user(request: HttpRequest, user_id: int) -> HttpResponseBase:
    """Shut a user out."""
    return _change(
        request,
        user_id,
        lambda user, stamp: services.disable_user(user=user, stamp=stamp),
        said="{0} is disabled and signed out everywhere.",
    )


@admin_required
@session_required
def enable_user(request: HttpRequest, user_id: int) -> HttpResponseBase:
    """Let a user in again."""
    return _change(
        request,
        user_id,
        lambda user, stamp: services.enable_user(user=user, stamp=stamp),
        said="{0} can sign in again.",
    )


def _change(
    request: HttpRequest,
    user_id: int,
    change: Callable[[User, Stamp], User],
    *,
    said: str,
) -> HttpResponseBase:
    user = get_object_or_404(User, id=user_id)
    try:
        user = change(user, stamp_of(request))
    except PageError as error:
        return _page(request, error=error)
    messages.success(request, said.format(user.username, user.get_role_display()))
    return redirect("accounts:user-list")


def _with_link(request: HttpRequest, user: User) -> HttpResponseBase:
    try:
        url = services.issue_sign_in_link(user=user, stamp=stamp_of(request))
    except PageError as error:
        return _page(request, error=error)
    response = _page(request, link=(user.username, url))
    response["Cache-Control"] = "no-store"
    return response


def _invalid(message: str) -> PageError:
    return PageError(status=422, code="user-invalid", message=message)


def _page(
    request: HttpRequest,
    fmt: str = "html",
    *,
    error: PageError | None = None,
    link: tuple[str, str] | None = None,
) -> HttpResponseBase:
    return selectors.USERS.answer(
        request,
        fmt,
        status=error.status if error else 200,
        roles=User.Role.choices,
        me=signed_in(request),
        error=error,
        link=link,
    )
