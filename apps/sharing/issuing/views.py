"""Tokens of a recipient: new ones, rotation, links, ends."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone

from deltaweb.web.accounts.permissions import admin_required
from deltaweb.web.pages.actions import Stamp, actor_of, stamp_of
from deltaweb.web.pages.lists.days import day_text
from deltaweb.web.pages.responses import respond
from deltaweb.web.sharing.errors import LifetimeInvalidError, SharingStateError
from deltaweb.web.sharing.issuing import credentials, once, tokens
from deltaweb.web.sharing.issuing.forms import (
    DELAYS,
    OVERLAPS,
    LifetimeForm,
    OnceForm,
    RetireForm,
    RotateForm,
    first_lifetime,
    lifetime_choices,
)
from deltaweb.web.sharing.issuing.lifetimes import parse_lifetime, parse_span
from deltaweb.web.sharing.issuing.token_result import (
    profile_response,
    repeated,
    show_credentials,
)
from deltaweb.web.sharing.issuing.token_rows import token_row
from deltaweb.web.sharing.models import Recipient, RecipientToken
from deltaweb.web.sharing.names import find_recipient

State = RecipientToken.State


@admin_required
def token_new(request: HttpRequest, name: str, fmt: str) -> HttpResponseBase:
    """Make one more token and show its link, once."""
    initial = first_lifetime(settings.TOKEN_MAX_DAYS)
    form = LifetimeForm(_posted(request), initial=initial)
    recipient = find_recipient(name)
    return _made(request, recipient, form, fmt) or _form_page(
        request, recipient, fmt, form, template="sharing/token_new.html"
    )


@admin_required
def token_rotate(request: HttpRequest, name: str, fmt: str) -> HttpResponseBase:
    """Make a token that replaces the others, and show its link, once."""
    initial = first_lifetime(settings.TOKEN_MAX_DAYS) | {"keep": "24h"}
    form = RotateForm(_posted(request), initial=initial)
    recipient = find_recipient(name)
    return _made(request, recipient, form, fmt) or _form_page(
        request,
        recipient,
        fmt,
        form,
        template="sharing/token_rotate.html",
        extra={
            "live": list(recipient.tokens.unended(timezone.now()).bearers()),
            "overlaps": OVERLAPS,
            "keep": form["keep"].value(),
        },
    )


@admin_required
def token_link(request: HttpRequest, name: str, token_id: UUID) -> HttpResponseBase:
    """Make a new link for a token that waits, and show it, once."""
    token = _token(name, token_id)
    if _is_repeat(request):
        return repeated(request, token.recipient.name)
    try:
        made = tokens.issue_link(token, stamp=stamp_of(request))
    except SharingStateError as error:
        messages.error(request, str(error))
        return redirect(token.recipient)
    return show_credentials(request, "html", made)


@admin_required
def token_profile(request: HttpRequest, name: str, token_id: UUID) -> HttpResponseBase:
    """Activate a token that waits and hand its profile to the administrator."""
    token = _token(name, token_id)
    try:
        profile = tokens.issue_profile(token, stamp=stamp_of(request))
    except SharingStateError as error:
        messages.error(request, str(error))
        return redirect(token.recipient)
    return profile_response(profile)


@admin_required
def token_revoke(
    request: HttpRequest, name: str, token_id: UUID, fmt: str
) -> HttpResponseBase:
    """Revoke a token; one that is in use only after a second question."""
    token = _token(name, token_id)
    stamp = stamp_of(request)
    row = token_row(token, now=stamp.at)
    is_sure = row.verdict.is_safe or request.POST.get("sure") == "yes"
    if request.method == "POST" and is_sure:
        tokens.revoke(token, stamp=stamp)
        said = f"{token.prefix}… is revoked; it stops working with the next request."
        messages.success(request, said)
        return redirect(token.recipient)
    return respond(
        request,
        fmt,
        template="sharing/token_revoke.html",
        context={"recipient": token.recipient, "row": row, "token": token},
        data=row,
        status=409 if request.method == "POST" else 200,
    )


@admin_required
def token_retire(
    request: HttpRequest, name: str, token_id: UUID, fmt: str
) -> HttpResponseBase:
    """Move the end of a token that is on its way out."""
    token = _token(name, token_id)
    now = timezone.now()
    if token.state(now) not in {State.ACTIVE, State.RETIRING}:
        messages.error(request, f"{token.prefix}… has ended, or was never activated.")
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
        template="sharing/token_retire.html",
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
        raise LifetimeInvalidError(text=form.at_text, reason="it is over already")
    return tokens.set_retirement(
        token, retires_at=now + span, stamp=Stamp(actor_of(request), now)
    )


def _is_repeat(request: HttpRequest) -> bool:
    form = OnceForm(request.POST)
    return form.is_valid() and once.is_repeat(request, form.cleaned_data["once"])


def _token(name: str, token_id: UUID) -> RecipientToken:
    recipient = find_recipient(name)
    tokens_of = recipient.tokens.select_related("recipient")
    return get_object_or_404(tokens_of, id=token_id)


def _posted(request: HttpRequest) -> QueryDict | None:
    return request.POST if request.method == "POST" else None


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
        if isinstance(form, RotateForm):
            field = "keep_until"
            keep_old = parse_span(form.keep_text, now=stamp.at)
            issue = partial(credentials.rotate, keep_old=keep_old)
        if once.is_repeat(request, form.cleaned_data["once"]):
            return repeated(request, recipient.name)
        made = issue(recipient, lifetime=lifetime, stamp=stamp)
    except LifetimeInvalidError as error:
        form.add_error(field, str(error))
        return None
    return show_credentials(request, fmt, made)


def _form_page(  # noqa: PLR0913 (one page for two forms)
    request: HttpRequest,
    recipient: Recipient,
    fmt: str,
    form: LifetimeForm,
    *,
    template: str,
    extra: Mapping[str, Any] | None = None,
) -> HttpResponseBase:
    return respond(
        request,
        fmt,
        template=template,
        context={
            "recipient": recipient,
            "form": form,
            "lifetimes": lifetime_choices(settings.TOKEN_MAX_DAYS),
            "lifetime": form["lifetime"].value(),
            "max_days": settings.TOKEN_MAX_DAYS,
            "once": once.new_key(),
            **(extra or {}),
        },
        data={
            "recipient": recipient.name,
            "lifetimes": list(lifetime_choices(settings.TOKEN_MAX_DAYS)),
            "max_days": settings.TOKEN_MAX_DAYS,
            "errors": form.errors,
        },
        status=422 if form.errors else 200,
    )
