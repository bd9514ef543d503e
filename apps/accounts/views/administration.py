"""The page of the accounts, and what it shows after a change; administrators alone."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect

from apps.accounts import selectors
from apps.accounts.changes.users import LINK, SignInURL
from apps.accounts.models import User
from apps.accounts.permissions import admin_required, signed_in
from apps.news.mails import mail_is_set_up
from apps.pages.actions import stamp_of
from apps.pages.changes.change import Nothing
from apps.pages.changes.forms import sentences_of
from apps.pages.request.changes import ChangeForm


@admin_required
def user_list(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """List the accounts."""
    return _page(request, fmt)


def added(
    request: HttpRequest, _: None, result: selectors.UserResource
) -> HttpResponseBase:
    """Mail the first sign-in link of a new user, or show it, this once."""
    user = selectors.get_user(result.name)
    if user.email and mail_is_set_up():
        messages.success(request, f"A sign-in link is sent to {user.email}.")
        return redirect("accounts:user-list")
    return with_link(request, user, LINK.carry_out(user, Nothing(), stamp_of(request)))


def with_link(request: HttpRequest, _: User, link: SignInURL) -> HttpResponseBase:
    """Show a sign-in link, this once."""
    response = _page(request, link=link)
    response["Cache-Control"] = "no-store"
    return response


def refused(request: HttpRequest, _: object, form: ChangeForm) -> HttpResponseBase:
    """Show the accounts, and why a change was refused."""
    return _page(request, form=form)


def _page(
    request: HttpRequest,
    fmt: str = "html",
    *,
    form: ChangeForm | None = None,
    link: SignInURL | None = None,
) -> HttpResponseBase:
    return selectors.USERS.answer(
        request,
        fmt,
        status=form.status if form else 200,
        roles=User.Role.choices,
        me=signed_in(request),
        errors=sentences_of(form) if form else [],
        link=link,
        mail_is_set_up=mail_is_set_up(),
    )
