"""OAuth clients of a recipient: new ones, and the profile of those without a secret."""

import json
from functools import partial
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone

from deltaweb.delta.errors import DeltaError
from deltaweb.web.accounts.permissions import admin_required
from deltaweb.web.pages.actions import stamp_of
from deltaweb.web.pages.responses import respond
from deltaweb.web.sharing.issuing import credentials, once
from deltaweb.web.sharing.issuing.forms import (
    CLIENT_KINDS,
    REPLACES,
    ClientForm,
    first_lifetime,
    lifetime_choices,
    place_error,
)
from deltaweb.web.sharing.issuing.lifetimes import parse_lifetime, parse_span
from deltaweb.web.sharing.issuing.profile import profile_of
from deltaweb.web.sharing.issuing.token_result import repeated, show_credentials
from deltaweb.web.sharing.issuing.token_rows import token_row
from deltaweb.web.sharing.models import Recipient, RecipientToken
from deltaweb.web.sharing.names import find_recipient


@admin_required
def client_new(request: HttpRequest, name: str, fmt: str) -> HttpResponseBase:
    """Make an OAuth client, beside the tokens that there are or in their place."""
    first = {"kind": next(iter(CLIENT_KINDS)), "keep": "all"}
    posted = request.POST if request.method == "POST" else None
    form = ClientForm(posted, initial=first_lifetime(settings.TOKEN_MAX_DAYS) | first)
    recipient = find_recipient(name)
    if form.is_valid():
        if once.is_repeat(request, form.cleaned_data["once"]):
            return repeated(request, recipient.name)
        try:
            return _made(request, recipient, form, fmt)
        except DeltaError as error:
            place_error(form, error)
    lifetimes = lifetime_choices(settings.TOKEN_MAX_DAYS)
    return respond(
        request,
        fmt,
        template="sharing/client_new.html",
        context={
            "recipient": recipient,
            "form": form,
            "kinds": CLIENT_KINDS,
            "kind": form["kind"].value(),
            "replaces": REPLACES,
            "keep": form["keep"].value(),
            "lifetimes": lifetimes,
            "lifetime": form["lifetime"].value(),
            "max_days": settings.TOKEN_MAX_DAYS,
            "once": once.new_key(),
        },
        data={
            "recipient": recipient.name,
            "kinds": list(CLIENT_KINDS),
            "lifetimes": list(lifetimes),
            "max_days": settings.TOKEN_MAX_DAYS,
            "errors": form.errors,
        },
        status=422 if form.errors else 200,
    )


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
        template="sharing/client_profile.html",
        context={
            "recipient": token.recipient,
            "token": token,
            "row": row,
            "profile": profile.to_json(),
            "file_name": profile.file_name,
        },
        data={"client": row, "profile": json.loads(profile.to_json())},
    )


def _made(
    request: HttpRequest, recipient: Recipient, form: ClientForm, fmt: str
) -> HttpResponseBase:
    stamp = stamp_of(request)
    issue = credentials.issue
    if form.keep_text:
        keep_old = parse_span(form.keep_text, now=stamp.at)
        issue = partial(credentials.rotate, keep_old=keep_old)
    made = issue(
        recipient,
        proof=form.proof(),
        lifetime=parse_lifetime(form.lifetime_text, now=stamp.at),
        stamp=stamp,
    )
    if made.link:
        return show_credentials(request, fmt, made)
    return redirect("sharing:client-profile", recipient.name, made.token.id)
