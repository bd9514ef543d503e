"""The pages of recipients: the list, one of them, its settings."""

from django.conf import settings
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone

from apps.accounts.permissions import admin_required
from apps.pages.actions import actor_of
from apps.pages.changes import once
from apps.pages.changes.html import change_form
from apps.pages.request.changes import ChangeForm
from apps.pages.responses import respond
from apps.sharing.access.grants.plain_cost import cost_of
from apps.sharing.activity.ledger import ledger_of
from apps.sharing.models import Recipient
from apps.sharing.names import find_recipient
from apps.sharing.recipients import detail as recipient_pages
from apps.sharing.recipients.changes.settings import DELETE, LIMIT, UPDATE, settings_of
from apps.sharing.recipients.listing import RECIPIENTS
from apps.sharing.recipients.reminders import reminders, reminders_feed
from apps.sharing.recipients.resource import facts_of
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


def recipient_grants(
    request: HttpRequest, recipient: Recipient, *, fmt: str, form: ChangeForm | None
) -> HttpResponseBase:
    """Show the shares that a recipient reads, to choose others."""
    shares = recipient_pages.all_shares()
    held = [share.name for share in recipient.shares.all()]
    form = form or change_form(UPDATE, shares=held)
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
        data={
            "recipient": recipient.name,
            "shares": held,
            "available": [share.name for share in shares],
        },
        status=422 if form.errors else 200,
    )


def recipient_settings(
    request: HttpRequest,
    recipient: Recipient,
    *,
    fmt: str = "html",
    form: ChangeForm | None = None,
    **failed: ChangeForm,
) -> HttpResponseBase:
    """Show the settings of a recipient.

    Args:
        request: The request.
        recipient: Whose they are.
        fmt: "html" or "json".
        form: The form of the settings, if it is shown again with its errors.
        failed: Such a form of the limits or of the deletion.
    """
    recipient = find_recipient(recipient.name)  # without what was refused
    stored = settings_of(recipient)
    forms = {
        "form": form or change_form(UPDATE, **stored),
        "limits_form": change_form(LIMIT, **stored),
        "confirm_form": change_form(DELETE),
    } | failed
    return respond(
        request,
        fmt,
        template="sharing/recipients/recipient_settings.html",
        context={
            "recipient": recipient,
            "address": actor_of(request).address,
            "plain_cost": cost_of(recipient) if fmt == "html" else None,
            **forms,
        },
        data={
            "recipient": recipient.name,
            **facts_of(recipient),
            "in_browser": recipient.in_browser,
            "plain": recipient.plain,
            "may_rotate": recipient.may_rotate,
        },
        status=422 if any(one.errors for one in forms.values()) else 200,
    )


def limits_failed(
    request: HttpRequest, recipient: Recipient, form: ChangeForm
) -> HttpResponseBase:
    """Show the settings with the errors of the limits."""
    return recipient_settings(request, recipient, limits_form=form)


def delete_failed(
    request: HttpRequest, recipient: Recipient, form: ChangeForm
) -> HttpResponseBase:
    """Show the settings with the errors of a deletion."""
    return recipient_settings(request, recipient, confirm_form=form)


def _chosen(form: Form) -> set[str]:
    """Return the names of the shares that are ticked, sent or stored."""
    return set(form["shares"].value() or ())
