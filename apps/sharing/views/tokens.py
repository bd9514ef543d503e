"""Tokens of a recipient: new ones, rotation, links, ends."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.permissions import admin_required
from apps.pages.actions import actor_of
from apps.pages.days import day_text
from apps.pages.responses import respond
from apps.sharing.errors import LifetimeInvalidError, SharingStateError
from apps.sharing.forms.recipients import (
    DELAYS,
    OVERLAPS,
    LifetimeForm,
    OnceForm,
    RetireForm,
    RotateForm,
    first_lifetime,
    lifetime_choices,
)
from apps.sharing.lifetimes import parse_lifetime, parse_span
from apps.sharing.models import Recipient, RecipientToken
from apps.sharing.profile import Profile
from apps.sharing.selectors import recipient_pages
from apps.sharing.selectors.recipients import find_recipient
from apps.sharing.services import handover, tokens
from apps.sharing.views import once
from apps.sharing.views.recipient_json import token_json
from apps.sharing.views.token_result import repeated, show_handover

State = RecipientToken.State


@admin_required
@require_http_methods(["GET", "HEAD", "POST"])
def token_new(request: HttpRequest, name: str, fmt: str) -> HttpResponseBase:
    """Make one more token and show its link, once."""
    recipient = find_recipient(name)
    if request.method != "POST":
        form = LifetimeForm(initial=first_lifetime(settings.TOKEN_MAX_DAYS))
        return _new_page(request, recipient, fmt, form=form)
    form = LifetimeForm(request.POST)
    if not form.is_valid():
        return _new_page(request, recipient, fmt, form=form)
    if once.is_repeat(request, form.cleaned_data["once"]):
        return repeated(request, recipient.name)
    now = timezone.now()
    try:
        made = handover.issue(
            recipient,
            lifetime=parse_lifetime(form.lifetime_text, now=now),
            actor=actor_of(request),
            now=now,
        )
    except LifetimeInvalidError as error:
        form.add_error("until", str(error))
        return _new_page(request, recipient, fmt, form=form)
    return show_handover(request, fmt, made)


@admin_required
@require_http_methods(["GET", "HEAD", "POST"])
def token_rotate(request: HttpRequest, name: str, fmt: str) -> HttpResponseBase:
    """Make a token that replaces the others, and show its link, once."""
    recipient = find_recipient(name)
    if request.method != "POST":
        initial = first_lifetime(settings.TOKEN_MAX_DAYS) | {"keep": "24h"}
        form = RotateForm(initial=initial)
        return _rotate_page(request, recipient, fmt, form=form)
    form = RotateForm(request.POST)
    if not form.is_valid():
        return _rotate_page(request, recipient, fmt, form=form)
    now = timezone.now()
    field = "until"
    try:
        lifetime = parse_lifetime(form.lifetime_text, now=now)
        field = "keep_until"
        keep_old = parse_span(form.keep_text, now=now)
        if once.is_repeat(request, form.cleaned_data["once"]):
            return repeated(request, recipient.name)
        made = handover.rotate(
            recipient,
            lifetime=lifetime,
            keep_old=keep_old,
            actor=actor_of(request),
            now=now,
        )
    except LifetimeInvalidError as error:
        form.add_error(field, str(error))
        return _rotate_page(request, recipient, fmt, form=form)
    return show_handover(request, fmt, made)


@admin_required
@require_POST
def token_link(request: HttpRequest, name: str, token_id: UUID) -> HttpResponseBase:
    """Make a new link for a token that waits, and show it, once."""
    token = _token(name, token_id)
    if _is_repeat(request):
        return repeated(request, token.recipient.name)
    try:
        made = handover.renew(token, actor=actor_of(request), now=timezone.now())
    except SharingStateError as error:
        messages.error(request, str(error))
        return redirect(token.recipient)
    return show_handover(request, "html", made)


@admin_required
@require_POST
def token_profile(request: HttpRequest, name: str, token_id: UUID) -> HttpResponseBase:
    """Activate a token that waits and hand its profile to the administrator."""
    token = _token(name, token_id)
    actor = actor_of(request)
    try:
        profile = tokens.issue_profile(
            token, actor=actor, now=timezone.now(), address=actor.address
        )
    except SharingStateError as error:
        messages.error(request, str(error))
        return redirect(token.recipient)
    return profile_response(profile)


@admin_required
@require_http_methods(["GET", "HEAD", "POST"])
def token_revoke(
    request: HttpRequest, name: str, token_id: UUID, fmt: str
) -> HttpResponseBase:
    """Revoke a token; one that is in use only after a second question."""
    token = _token(name, token_id)
    now = timezone.now()
    row = recipient_pages.token_row(token, now=now)
    is_sure = row.verdict.is_safe or request.POST.get("sure") == "yes"
    if request.method == "POST" and is_sure:
        tokens.revoke(token, actor=actor_of(request), now=now)
        said = f"{token.prefix}… is revoked; it opens nothing from the next request on."
        messages.success(request, said)
        return redirect(token.recipient)
    return respond(
        request,
        fmt,
        template="sharing/token_revoke.html",
        context={"recipient": token.recipient, "row": row, "token": token},
        data=token_json(row),
        status=409 if request.method == "POST" else 200,
    )


@admin_required
@require_http_methods(["GET", "HEAD", "POST"])
def token_retire(
    request: HttpRequest, name: str, token_id: UUID, fmt: str
) -> HttpResponseBase:
    """Move the end of a token that is on its way out."""
    token = _token(name, token_id)
    now = timezone.now()
    if token.state(now) not in {State.ACTIVE, State.RETIRING}:
        messages.error(request, f"{token.prefix}… has ended, or was never activated.")
        return redirect(token.recipient)
    form = RetireForm(
        request.POST if request.method == "POST" else None, initial={"at": "7d"}
    )
    if request.method == "POST" and form.is_valid():
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
        data=token_json(recipient_pages.token_row(token, now=now)),
        status=422 if form.errors else 200,
    )


def profile_response(profile: Profile) -> HttpResponse:
    """Answer with a profile file; no cache may keep it."""
    response = HttpResponse(profile.to_json(), content_type="application/json")
    disposition = content_disposition_header(
        as_attachment=True, filename=profile.file_name
    )
    response["Content-Disposition"] = disposition or "attachment"
    response["Cache-Control"] = "no-store"
    return response


def _retire(
    request: HttpRequest, token: RecipientToken, form: RetireForm, now: datetime
) -> RecipientToken:
    span = parse_span(form.at_text, now=now)
    if span.total_seconds() <= 0:
        raise LifetimeInvalidError(text=form.at_text, reason="it is over already")
    return tokens.set_retirement(
        token, retires_at=now + span, actor=actor_of(request), now=now
    )


def _is_repeat(request: HttpRequest) -> bool:
    form = OnceForm(request.POST)
    return form.is_valid() and once.is_repeat(request, form.cleaned_data["once"])


def _token(name: str, token_id: UUID) -> RecipientToken:
    recipient = find_recipient(name)
    tokens_of = recipient.tokens.select_related("recipient")
    return get_object_or_404(tokens_of, id=token_id)


def _new_page(
    request: HttpRequest, recipient: Recipient, fmt: str, *, form: LifetimeForm
) -> HttpResponseBase:
    return _form_page(request, recipient, fmt, form, template="sharing/token_new.html")


def _rotate_page(
    request: HttpRequest, recipient: Recipient, fmt: str, *, form: RotateForm
) -> HttpResponseBase:
    now = timezone.now()
    live = [t for t in recipient.tokens.all() if t.ends_at > now and not t.revoked_at]
    return _form_page(
        request,
        recipient,
        fmt,
        form,
        template="sharing/token_rotate.html",
        extra={"live": live, "overlaps": OVERLAPS, "keep": form["keep"].value()},
    )


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
