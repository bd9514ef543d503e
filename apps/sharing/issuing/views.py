"""Tokens and OAuth clients of a recipient: new ones, rotation, links, ends."""

import json
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone

from apps.accounts.permissions import admin_required
from apps.pages.actions import Stamp, actor_of, stamp_of
from apps.pages.lists.days import day_text
from apps.pages.responses import respond
from apps.sharing.errors import LifetimeInvalidError, SharingStateError
from apps.sharing.issuing import credentials, once, tokens
from apps.sharing.issuing.forms import (
    CLIENT_KINDS,
    DELAYS,
    OVERLAPS,
    REPLACES,
    ClientForm,
    LifetimeForm,
    OnceForm,
    RetireForm,
    RotateForm,
    first_lifetime,
    lifetime_choices,
    place_error,
)
from apps.sharing.issuing.lifetimes import parse_lifetime, parse_span
from apps.sharing.issuing.profile import profile_of
from apps.sharing.issuing.token_result import (
    repeated,
    show_credentials,
)
from apps.sharing.issuing.token_rows import token_row
from apps.sharing.models import Recipient, RecipientToken
from apps.sharing.names import find_recipient
from deltaweb.delta.errors import DeltaError

State = RecipientToken.State


@admin_required
def token_new(request: HttpRequest, name: str, fmt: str) -> HttpResponseBase:
    """Make one more token and show its link, once."""
    return _new(request, find_recipient(name), fmt, LifetimeForm, "token_new")


@admin_required
def token_rotate(request: HttpRequest, name: str, fmt: str) -> HttpResponseBase:
    """Make a token that replaces the others, and show its link, once."""
    recipient = find_recipient(name)
    live = list(recipient.tokens.unended(timezone.now()).bearers())
    more = {"live": live, "overlaps": OVERLAPS}
    return _new(request, recipient, fmt, RotateForm, "token_rotate", **more)


@admin_required
def client_new(request: HttpRequest, name: str, fmt: str) -> HttpResponseBase:
    """Make an OAuth client, beside the tokens that there are or in their place."""
    more = {"kinds": CLIENT_KINDS, "replaces": REPLACES}
    return _new(request, find_recipient(name), fmt, ClientForm, "client_new", **more)


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


def link_is_repeated(
    request: HttpRequest, token: RecipientToken
) -> HttpResponseBase | None:
    """Answer the form of a link that a browser sends again; None for a first one."""
    form = OnceForm(request.POST)
    if form.is_valid() and once.is_repeat(request, form.cleaned_data["once"]):
        return repeated(request, token.recipient.name)
    return None


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


def not_sure(request: HttpRequest, token: RecipientToken) -> HttpResponseBase | None:
    """Ask a second time before a token in use is revoked; None if that is meant."""
    row = token_row(token, now=timezone.now())
    if row.verdict.is_safe or request.POST.get("sure") == "yes":
        return None
    return token_revoke(request, token, fmt="html", form=None)


@admin_required
def token_retire(
    request: HttpRequest, name: str, token_id: UUID, fmt: str
) -> HttpResponseBase:
    """Move the end of a token that is on its way out."""
    token = _token(name, token_id)
    now = timezone.now()
    if token.state(now) not in {State.ACTIVE, State.RETIRING}:
        messages.error(request, f"{token.prefix}… has expired, or was never activated.")
        return redirect(token.recipient)
    form = RetireForm(_posted(request), initial={"at": "7d"})
    if form.is_valid():
        try:
            ended = _retire(request, token, form, now)
        except SharingStateError as error:
            form.add_error("at_until", str(error))
        else:
            at = ended.ends_at.astimezone(UTC)
            said = f"{token.prefix}… ends on {day_text(at)} at {at:%H:%M} UTC."
            messages.success(request, said)
            return redirect(token.recipient)
    return respond(
        request,
        fmt,
        template="sharing/issuing/token_retire.html",
        context={
            "recipient": token.recipient,
            "token": token,
            "form": form,
            "delays": DELAYS,
            "choice": form["at"].value(),
        },
        data=token_row(token, now=now),
        status=422 if form.errors else 200,
    )


def _retire(
    request: HttpRequest, token: RecipientToken, form: RetireForm, now: datetime
) -> RecipientToken:
    span = parse_span(form.at_text, now=now)
    if span.total_seconds() <= 0:
        raise LifetimeInvalidError(text=form.at_text, reason="it is in the past")
    return tokens.set_retirement(
        token, retires_at=now + span, stamp=Stamp(actor_of(request), now)
    )


def _token(name: str, token_id: UUID) -> RecipientToken:
    recipient = find_recipient(name)
    tokens_of = recipient.tokens.select_related("recipient")
    return get_object_or_404(tokens_of, id=token_id)


def _posted(request: HttpRequest) -> QueryDict | None:
    return request.POST if request.method == "POST" else None


def _new(
    request: HttpRequest,
    recipient: Recipient,
    fmt: str,
    kind: type[LifetimeForm],
    page: str,
    **more: Any,  # noqa: ANN401 (what its template has besides)
) -> HttpResponseBase:
    """Make a token by a form, or show the form."""
    lifetimes = lifetime_choices(settings.TOKEN_MAX_DAYS)
    form = kind(
        _posted(request), initial=first_lifetime(settings.TOKEN_MAX_DAYS) | kind.first
    )
    if (made := _made(request, recipient, form, fmt)) is not None:
        return made
    chosen = {"lifetime", "keep", "kind"} & form.fields.keys()
    kinds = {"kinds": list(more["kinds"])} if "kinds" in more else {}
    return respond(
        request,
        fmt,
        template=f"sharing/issuing/{page}.html",
        context={
            "recipient": recipient,
            "form": form,
            "lifetimes": lifetimes,
            "max_days": settings.TOKEN_MAX_DAYS,
            "once": once.new_key(),
            **{field: form[field].value() for field in chosen},
            **more,
        },
        data={
            "recipient": recipient.name,
            **kinds,
            "lifetimes": list(lifetimes),
            "max_days": settings.TOKEN_MAX_DAYS,
            "errors": form.errors,
        },
        status=422 if form.errors else 200,
    )


def _made(
    request: HttpRequest, recipient: Recipient, form: LifetimeForm, fmt: str
) -> HttpResponseBase | None:
    """Make the token that was asked for; None if none was, or the form is not valid."""
    if not form.is_valid():
        return None
    stamp = stamp_of(request)
    field = "until"
    try:
        lifetime = parse_lifetime(form.lifetime_text, now=stamp.at)
        issue = credentials.issue
        if form.keep_text:
            field = "keep_until"
            keep_old = parse_span(form.keep_text, now=stamp.at)
            issue = partial(credentials.rotate, keep_old=keep_old)
        proof = form.proof()
        if once.is_repeat(request, form.cleaned_data["once"]):
            return repeated(request, recipient.name)
        made = issue(recipient, proof=proof, lifetime=lifetime, stamp=stamp)
    except LifetimeInvalidError as error:
        form.add_error(field if field in form.fields else None, str(error))
        return None
    except DeltaError as error:
        place_error(form, error)
        return None
    if made.link:
        return show_credentials(request, fmt, made)
    return redirect("sharing:client-profile", recipient.name, made.token.id)
