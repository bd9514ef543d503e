"""The pages of recipients: the list, a new one, one of them, its settings."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.utils import timezone

from apps.accounts.permissions import admin_required
from apps.pages.actions import actor_of, stamp_of
from apps.pages.responses import respond
from apps.sharing.access.earlier_urls import earlier_urls_text
from apps.sharing.activity.budgets import limit_text
from apps.sharing.activity.ledger import ledger_of
from apps.sharing.errors import SharingStateError
from apps.sharing.issuing import once
from apps.sharing.issuing.forms import (
    first_lifetime,
    lifetime_choices,
    place_error,
)
from apps.sharing.issuing.token_result import repeated, show_credentials
from apps.sharing.models import Recipient
from apps.sharing.names import find_recipient
from apps.sharing.recipients import detail as recipient_pages
from apps.sharing.recipients import services
from apps.sharing.recipients.forms import (
    ConfirmForm,
    LimitsForm,
    NewRecipientForm,
    SettingsForm,
    SharesForm,
)
from apps.sharing.recipients.listing import RECIPIENTS
from apps.sharing.recipients.properties import property_texts
from apps.sharing.recipients.reminders import reminders, reminders_feed
from apps.sharing.recipients.seen import see_as, stand_in


@admin_required
def recipient_list(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """List the recipients; htmx asks for the rows alone."""
    return RECIPIENTS.answer(request, fmt)


@admin_required
def recipient_usage(request: HttpRequest, *, name: str, fmt: str) -> HttpResponseBase:
    """Show what a recipient was offered, by table and month."""
    recipient = find_recipient(name)
    ledger = ledger_of(recipient, now=timezone.now())
    return respond(
        request,
        fmt,
        template="sharing/recipients/recipient_usage.html",
        context={"recipient": recipient, "ledger": ledger},
        data=ledger,
        rows=ledger.rows() if fmt == "csv" else None,
    )


@admin_required
def reminder_feed(request: HttpRequest) -> HttpResponseBase:
    """Answer with what recipients are to be told in time, as an Atom feed."""
    url = f"{settings.PUBLIC_URL}{request.path_info}"
    feed = reminders_feed(reminders(timezone.now()), url=url)
    return HttpResponse(feed, content_type="application/atom+xml; charset=utf-8")


@admin_required
def recipient_seen(request: HttpRequest, *, name: str, fmt: str) -> HttpResponseBase:
    """Show what a recipient lists and gets, with the answers of the server."""
    recipient = find_recipient(name)
    seen = see_as(
        stand_in(recipient, now=timezone.now()),
        share=request.GET.get("share") or None,
        page_token=request.GET.get("pageToken", ""),
    )
    return respond(
        request,
        fmt,
        template="sharing/recipients/recipient_seen.html",
        context={"recipient": recipient, "seen": seen},
        data=seen,
    )


@admin_required
def recipient_new(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Make a recipient with its grants and first token, and show the link once."""
    shares = [share.name for share in recipient_pages.all_shares()]
    initial = {
        **first_lifetime(settings.TOKEN_MAX_DAYS),
        "name": request.GET.get("name", ""),
        "shares": request.GET.getlist("share"),
    }
    posted = request.POST if request.method == "POST" else None
    form = NewRecipientForm(posted, share_names=shares, initial=initial)
    if not form.is_valid():
        return _new_page(request, fmt, form=form)
    values = form.cleaned_data
    if once.is_repeat(request, values["once"]):
        return repeated(request, values["name"])
    try:
        made = services.invite(form.new_recipient(), stamp=stamp_of(request))
    except SharingStateError as error:
        place_error(form, error)
        return _new_page(request, fmt, form=form)
    return show_credentials(request, fmt, made, is_new=True)


@admin_required
def recipient_detail(request: HttpRequest, name: str, fmt: str) -> HttpResponseBase:
    """Show a recipient: the light of its rotation, tokens, grants, activity."""
    now = timezone.now()
    recipient = find_recipient(name)
    detail = recipient_pages.recipient_detail(recipient, now=now)
    return respond(
        request,
        fmt,
        template="sharing/recipients/recipient_detail.html",
        context={
            "detail": detail,
            "recipient": recipient,
            "once": once.new_key(),
        },
        data=detail,
    )


@admin_required
def recipient_grants(request: HttpRequest, name: str, fmt: str) -> HttpResponseBase:
    """Choose the shares that a recipient reads."""
    recipient = find_recipient(name)
    shares = recipient_pages.all_shares()
    names = [share.name for share in shares]
    held = [share.name for share in recipient.shares.all()]
    form = SharesForm(
        request.POST if request.method == "POST" else None,
        share_names=names,
        initial={"shares": held},
    )
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data["shares"] if form.is_sent("shares") else held
        wanted = recipient_pages.shares_named(chosen)
        added, removed = services.set_grants(recipient, wanted, stamp=stamp_of(request))
        said = f"{recipient.name} reads {len(wanted)} of {len(names)} shares now: "
        said += f"{added} added, {removed} removed."
        messages.success(request, said)
        return redirect(recipient)
    return respond(
        request,
        fmt,
        template="sharing/recipients/recipient_grants.html",
        context={
            "recipient": recipient,
            "shares": shares,
            "form": form,
            "chosen": _chosen(form),
        },
        data={"recipient": recipient.name, "shares": held, "available": names},
        status=422 if form.errors else 200,
    )


@admin_required
def recipient_settings(request: HttpRequest, name: str, fmt: str) -> HttpResponseBase:
    """Change contact, note and allow list."""
    recipient = find_recipient(name)
    posted = request.POST if request.method == "POST" else None
    form = _settings_form(recipient, posted)
    if not form.is_valid():
        return _settings_page(request, recipient, fmt, form=form)
    stamp, properties = stamp_of(request), recipient.properties
    try:
        services.update_recipient(
            recipient,
            contact=form.changes["contact"],
            comment=form.changes["comment"],
            allowed_networks=form.sent("networks", form.network_texts),
            properties=form.sent("properties", form.property_texts),
            stamp=stamp,
        )
    except SharingStateError as error:
        place_error(form, error)
        return _settings_page(request, find_recipient(name), fmt, form=form)
    said = "Saved. It counts from the next request."
    ends_at = recipient.earlier_urls_end_at
    if recipient.properties != properties and ends_at is not None:
        said = f"{said} {earlier_urls_text(ends_at, now=stamp.at)}"
    messages.success(request, said)
    return redirect("sharing:recipient-settings", recipient.name)


@admin_required
def recipient_limits(request: HttpRequest, name: str) -> HttpResponseBase:
    """Change what a recipient is offered in a month at most."""
    recipient = find_recipient(name)
    form = LimitsForm(request.POST)
    if form.is_valid():
        try:
            services.set_limits(
                recipient,
                **form.changes,
                stamp=stamp_of(request),
            )
        except SharingStateError as error:
            form.add_error(None, str(error))
    if form.errors:
        return _settings_page(request, find_recipient(name), "html", limits_form=form)
    messages.success(request, "Saved. It counts from the next request.")
    return redirect("sharing:recipient-usage", recipient.name)


@admin_required
def recipient_delete(request: HttpRequest, name: str) -> HttpResponseBase:
    """Delete a recipient once its name has been typed again."""
    recipient = find_recipient(name)
    form = ConfirmForm(request.POST, name=recipient.name, kind="recipient")
    if not form.is_valid():
        return _settings_page(request, recipient, "html", confirm_form=form)
    services.delete_recipient(recipient, stamp=stamp_of(request))
    said = f"{name} is deleted; its tokens no longer work."
    messages.success(request, said)
    return redirect("sharing:recipient-list")


def _new_page(
    request: HttpRequest, fmt: str, *, form: NewRecipientForm
) -> HttpResponseBase:
    shares = recipient_pages.all_shares()
    return respond(
        request,
        fmt,
        template="sharing/recipients/recipient_new.html",
        context={
            "form": form,
            "shares": shares,
            "chosen": _chosen(form),
            "lifetimes": lifetime_choices(settings.TOKEN_MAX_DAYS),
            "max_days": settings.TOKEN_MAX_DAYS,
            "once": once.new_key(),
        },
        data={
            "shares": [share.name for share in shares],
            "lifetimes": list(lifetime_choices(settings.TOKEN_MAX_DAYS)),
            "max_days": settings.TOKEN_MAX_DAYS,
            "errors": form.errors,
        },
        status=422 if form.errors else 200,
    )


def _settings_page(  # noqa: PLR0913 (the forms of the page)
    request: HttpRequest,
    recipient: Recipient,
    fmt: str,
    *,
    form: SettingsForm | None = None,
    confirm_form: ConfirmForm | None = None,
    limits_form: LimitsForm | None = None,
) -> HttpResponseBase:
    form = form or _settings_form(recipient)
    limits_form = limits_form or LimitsForm(
        initial={
            "soft": limit_text(recipient.soft_limit_bytes),
            "hard": limit_text(recipient.hard_limit_bytes),
        }
    )
    confirm_form = confirm_form or ConfirmForm(name=recipient.name, kind="recipient")
    return respond(
        request,
        fmt,
        template="sharing/recipients/recipient_settings.html",
        context={
            "recipient": recipient,
            "form": form,
            "confirm_form": confirm_form,
            "limits_form": limits_form,
            "address": actor_of(request).address,
        },
        data={
            "recipient": recipient.name,
            "contact": recipient.contact,
            "comment": recipient.comment,
            "allowed_networks": recipient.allowed_networks,
            "properties": recipient.properties,
            "soft_limit_bytes": recipient.soft_limit_bytes,
            "hard_limit_bytes": recipient.hard_limit_bytes,
        },
        status=422 if form.errors or confirm_form.errors or limits_form.errors else 200,
    )


def _settings_form(
    recipient: Recipient, posted: QueryDict | None = None
) -> SettingsForm:
    networks = "\n".join(recipient.allowed_networks)
    present = {
        "contact": recipient.contact,
        "comment": recipient.comment,
        "networks": networks,
        "properties": "\n".join(property_texts(recipient.properties)),
    }
    return SettingsForm(posted, initial=present)


def _chosen(form: SharesForm) -> set[str]:
    """Return the names of the shares that are ticked, sent or stored."""
    return set(form["shares"].value() or ())
