"""The pages of the changes of tokens and OAuth clients."""

import json
from collections.abc import Mapping
from typing import Final
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone

from apps.accounts.permissions import admin_required
from apps.pages.changes import once
from apps.pages.changes.change import AnyChange
from apps.pages.changes.html import change_form
from apps.pages.request.changes import ChangeForm
from apps.pages.responses import respond
from apps.sharing.issuing.lifetimes import first_lifetime, lifetimes
from apps.sharing.issuing.profile import profile_of
from apps.sharing.issuing.token_result import profile_response, show_credentials
from apps.sharing.issuing.token_rows import token_row
from apps.sharing.models import Recipient, RecipientToken
from apps.sharing.names import find_recipient
from apps.sharing.recipients.changes.new_tokens import (
    ADD_CLIENT,
    CREATE,
    NEW_LINK,
    ROTATE_BY_LINK,
)
from apps.sharing.recipients.changes.token_resource import Issued, MadeToken, NewLink
from apps.sharing.recipients.changes.tokens import RETIRE
from apps.sharing.recipients.detail import all_shares

State = RecipientToken.State
CLIENT_KINDS: Final = {
    "client_secret": "a secret",
    "private_key": "a private key",
    "federated": "tokens of an OIDC issuer",
}


# === Forms ===


def recipient_new(
    request: HttpRequest, _: None, *, fmt: str, form: ChangeForm | None
) -> HttpResponseBase:
    """Show the form of a recipient, which an address may begin to fill."""
    shares = all_shares()
    form = form or _first_form(
        CREATE,
        name=request.GET.get("name", ""),
        shares=request.GET.getlist("share"),
    )
    return _page(
        request,
        fmt,
        form,
        template="sharing/recipients/recipient_new.html",
        context={"shares": shares, "chosen": set(form["shares"].value() or ())},
        data={"shares": [share.name for share in shares]},
    )


def token_new(
    request: HttpRequest, recipient: Recipient, *, fmt: str, form: ChangeForm | None
) -> HttpResponseBase:
    """Show the form of one more token."""
    form = form or _first_form(NEW_LINK)
    return _of_recipient(request, fmt, form, page="token_new", recipient=recipient)


def token_rotate(
    request: HttpRequest, recipient: Recipient, *, fmt: str, form: ChangeForm | None
) -> HttpResponseBase:
    """Show the form of a token that replaces the others."""
    form = form or _first_form(ROTATE_BY_LINK, keep_old="24h")
    live = list(recipient.tokens.unended(timezone.now()).bearers())
    return _of_recipient(
        request, fmt, form, page="token_rotate", recipient=recipient, live=live
    )


def client_new(
    request: HttpRequest, recipient: Recipient, *, fmt: str, form: ChangeForm | None
) -> HttpResponseBase:
    """Show the form of an OAuth client."""
    form = form or _first_form(ADD_CLIENT, kind=next(iter(CLIENT_KINDS)), keep_old="")
    more = {"kinds": CLIENT_KINDS, "kind": form["kind"].value()}
    return _of_recipient(
        request, fmt, form, page="client_new", recipient=recipient, **more
    )


def token_retire(
    request: HttpRequest, token: RecipientToken, *, fmt: str, form: ChangeForm | None
) -> HttpResponseBase:
    """Show the form of the end of a token in use."""
    now = timezone.now()
    if token.state(now) not in {State.ACTIVE, State.RETIRING}:
        messages.error(request, f"{token.prefix}… has expired, or was never activated.")
        return redirect(token.recipient)
    form = form or change_form(RETIRE, ends="7d")
    return respond(
        request,
        fmt,
        template="sharing/issuing/token_retire.html",
        context={"recipient": token.recipient, "token": token, "form": form},
        data=token_row(token, now=now),
        status=422 if form.errors else 200,
    )


def token_revoke(
    request: HttpRequest, token: RecipientToken, *, fmt: str, form: object
) -> HttpResponseBase:
    """Show what a revocation ends, and ask whether it is meant."""
    del form
    row = token_row(token, now=timezone.now())
    return respond(
        request,
        fmt,
        template="sharing/issuing/token_revoke.html",
        context={"recipient": token.recipient, "row": row, "token": token},
        data=row,
        status=409 if request.method == "POST" else 200,
    )


def _first_form(change: AnyChange, **first: object) -> ChangeForm:
    return change_form(change, expires=first_lifetime(), **first)


def _of_recipient(
    request: HttpRequest,
    fmt: str,
    form: ChangeForm,
    *,
    page: str,
    recipient: Recipient,
    **more: object,
) -> HttpResponseBase:
    kinds = {"kinds": list(CLIENT_KINDS)} if "kinds" in more else {}
    return _page(
        request,
        fmt,
        form,
        template=f"sharing/issuing/{page}.html",
        context={"recipient": recipient, **more},
        data={"recipient": recipient.name, **kinds},
    )


def _page(  # noqa: PLR0913 (each is one part of the page)
    request: HttpRequest,
    fmt: str,
    form: ChangeForm,
    *,
    template: str,
    context: Mapping[str, object],
    data: Mapping[str, object],
) -> HttpResponseBase:
    """Render the form of a new token, which takes effect once."""
    most = settings.TOKEN_MAX_DAYS
    own = {"lifetimes": list(lifetimes()), "max_days": most, "errors": form.errors}
    return respond(
        request,
        fmt,
        template=template,
        context={
            **context,
            "form": form,
            "max_days": most,
            "once": once.new_key(),
        },
        data={**data, **own},
        status=422 if form.errors else 200,
    )


# === Answers ===


def issued(
    request: HttpRequest, recipient: Recipient | None, one: Issued, *, fmt: str
) -> HttpResponseBase:
    """Show the link of a token, once, or what a client without a secret comes in by."""
    token = one.made.token
    if one.made.link:
        is_new = recipient is None
        return show_credentials(request, fmt, one.made, is_new=is_new)
    return redirect("sharing:client-profile", token.recipient.name, token.id)


def link_issued(
    request: HttpRequest, _: RecipientToken, one: NewLink
) -> HttpResponseBase:
    """Show a new link, once."""
    return show_credentials(request, "html", one.made)


def profile_issued(
    _: HttpRequest, __: RecipientToken, one: MadeToken
) -> HttpResponseBase:
    """Answer with the profile file."""
    return profile_response(one.file)


# === What can be shown at any time ===


@admin_required
def client_profile(
    request: HttpRequest, name: str, token_id: UUID, fmt: str
) -> HttpResponseBase:
    """Show what a client without a secret here comes in by."""
    clients = find_recipient(name).tokens.select_related("recipient")
    open_kinds = RecipientToken.OPEN_KINDS
    token = get_object_or_404(clients, id=token_id, kind__in=open_kinds)
    profile = profile_of(token)
    row = token_row(token, now=timezone.now())
    return respond(
        request,
        fmt,
        template="sharing/issuing/client_profile.html",
        context={
            "recipient": token.recipient,
            "token": token,
            "row": row,
            "profile": profile.to_json(),
            "file_name": profile.file_name,
        },
        data={"client": row, "profile": json.loads(profile.to_json())},
    )
