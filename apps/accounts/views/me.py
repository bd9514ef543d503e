"""One's own account: appearance, password, API keys."""

from http import HTTPStatus
from typing import Any, Final

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.forms import Form
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters

from apps.accounts import selectors, services
from apps.accounts.changes.keys import MadeKey
from apps.accounts.errors import UserInvalidError
from apps.accounts.models import Scope, User, usual_scopes
from apps.accounts.permissions import session_required, signed_in
from apps.accounts.services.hashing import address_slots
from apps.accounts.views.forms import PasswordForm
from apps.accounts.zones import pages_zones
from apps.news.mails import mail_is_set_up
from apps.pages.actions import actor_of, stamp_of
from apps.pages.request.addresses import network_of
from apps.pages.request.changes import ChangeForm
from apps.pages.responses import respond

KEY_ENDS: Final = {"30d": "30 days", "90d": "90 days", "365d": "a year", "": "never"}


def me(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show the account."""
    return _page(request, fmt)


def key_list(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """List one's own keys, for machines; their page is the account's."""
    if fmt == "html":
        return redirect("accounts:me")
    return selectors.KEYS.answer(request, fmt)


@session_required
@sensitive_post_parameters("current", "new", "again")
def change_password(request: HttpRequest) -> HttpResponseBase:
    """Set a password; this session goes on, every other one ends."""
    with address_slots.taken(network_of(actor_of(request).address)):
        return _change_password(request)


def _change_password(request: HttpRequest) -> HttpResponseBase:
    user = signed_in(request)
    form = PasswordForm(request.POST, user=user)
    if not form.is_valid():
        return _page(request, form=form)
    try:
        services.change_password(
            user=user,
            password=form.cleaned_data["new"],
            revoke_keys=form.cleaned_data["revoke_keys"],
            stamp=stamp_of(request),
        )
    except UserInvalidError as error:
        form.add_error("new", error.message)
        return _page(request, form=form)
    update_session_auth_hash(request, user)
    said = "Your password has changed. You are signed out everywhere else."
    if form.cleaned_data["revoke_keys"]:
        said = f"{said} Your API keys are revoked."
    messages.success(request, said)
    return redirect("accounts:me")


def with_key(request: HttpRequest, _: User, issued: MadeKey) -> HttpResponseBase:
    """Show a new API key, this once: it goes into no message or session."""
    return _page(request, issued=issued, status=HTTPStatus.CREATED)


def refused(request: HttpRequest, _: User, form: ChangeForm) -> HttpResponseBase:
    """Show the account, with the errors of a form."""
    return _page(request, form=form)


def _page(
    request: HttpRequest,
    fmt: str = "html",
    *,
    form: Form | None = None,
    issued: MadeKey | None = None,
    status: int = 200,
) -> HttpResponseBase:
    """Render the account page; a form that does not fit is shown with its errors."""
    user = signed_in(request)
    now = timezone.now()
    keys = [selectors.key_resource(key, now=now) for key in selectors.api_keys(user)]
    context: dict[str, Any] = {
        "account": user,
        "themes": User.Theme.choices,
        "zones": pages_zones(),
        "keys": keys,
        "num_usable_keys": sum(key.state in {"active", "expiring"} for key in keys),
        "scopes": Scope.choices,
        "usual_scopes": usual_scopes(),
        "ends": KEY_ENDS,
        "issued": issued,
        "mail_is_set_up": mail_is_set_up(),
        "errors": form.errors if form else {},
    }
    return respond(
        request,
        fmt,
        template="accounts/me.html",
        context=context,
        data=selectors.account_resource(user, now=now) if fmt == "json" else None,
        status=getattr(form, "status", 422) if form else status,
    )
