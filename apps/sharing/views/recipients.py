"""The pages of recipients: the list, a new one, one of them, its settings."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.forms import Form
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from apps.accounts.permissions import admin_required
from apps.pages.actions import actor_of
from apps.pages.responses import respond
from apps.pages.sorting import sort_headers, sort_options
from apps.sharing.errors import SharingStateError
from apps.sharing.forms.recipients import (
    COLUMNS,
    STATES,
    DeleteForm,
    NewRecipientForm,
    RecipientListForm,
    SettingsForm,
    SharesForm,
    first_lifetime,
    lifetime_choices,
)
from apps.sharing.lifetimes import parse_lifetime
from apps.sharing.models import Recipient
from apps.sharing.selectors import recipient_list as recipient_lists
from apps.sharing.selectors import recipient_pages
from apps.sharing.selectors.recipients import find_recipient
from apps.sharing.services import granting, handover
from apps.sharing.services import recipients as services
from apps.sharing.views import once
from apps.sharing.views.recipient_json import detail_json, row_json
from apps.sharing.views.token_result import repeated, show_handover
from apps.tables.views.shapes import cleaned, page_url

FIELDS = {
    "name-invalid": "name",
    "name-taken": "name",
    "contact-invalid": "contact",
    "network-invalid": "networks",
    "too-many-networks": "networks",
    "lifetime-invalid": "until",
}


@admin_required
@require_safe
def recipient_list(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """List the recipients; htmx asks for the rows alone."""
    values = cleaned(RecipientListForm(request.GET))
    query = recipient_lists.RecipientQuery(
        q=values["q"],
        state=values["state"],
        sort=values["sort"],
        page=values["page"] or 1,
    )
    now = timezone.now()
    page = recipient_lists.recipient_page(query, now=now)
    next_url = page_url(request, page.next_page)
    rows = recipient_lists.recipient_csv(query, now=now) if fmt == "csv" else None
    return respond(
        request,
        fmt,
        template="sharing/recipient_list.html",
        context={
            "page": page,
            "query": query,
            "headers": sort_headers(
                request, COLUMNS, query.sort or recipient_lists.DEFAULT_SORT
            ),
            "sorts": sort_options(
                COLUMNS, query.sort, default=recipient_lists.DEFAULT_SORT
            ),
            "states": STATES,
            "next_url": next_url,
            "previous_url": page_url(request, page.previous_page),
        },
        data={
            "count": page.count,
            "next": next_url and request.build_absolute_uri(next_url),
            "recipients": [row_json(row) for row in page.rows],
        },
        rows=rows,
    )


@admin_required
@require_http_methods(["GET", "HEAD", "POST"])
def recipient_new(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Make a recipient with its grants and first token, and show the link once."""
    shares = [share.name for share in recipient_pages.all_shares()]
    if request.method != "POST":
        initial = {
            **first_lifetime(settings.TOKEN_MAX_DAYS),
            "name": request.GET.get("name", ""),
            "shares": request.GET.getlist("share"),
        }
        form = NewRecipientForm(share_names=shares, initial=initial)
        return _new_page(request, fmt, form=form)
    form = NewRecipientForm(request.POST, share_names=shares)
    if not form.is_valid():
        return _new_page(request, fmt, form=form)
    if once.is_repeat(request, form.cleaned_data["once"]):
        return repeated(request, form.cleaned_data["name"])
    now = timezone.now()
    try:
        made = handover.invite(
            name=form.cleaned_data["name"],
            contact=form.cleaned_data["contact"],
            comment=form.cleaned_data["comment"],
            allowed_networks=form.network_texts,
            shares=recipient_pages.shares_named(form.cleaned_data["shares"]),
            lifetime=parse_lifetime(form.lifetime_text, now=now),
            actor=actor_of(request),
            now=now,
        )
    except SharingStateError as error:
        form.add_error(FIELDS.get(error.code), str(error))
        return _new_page(request, fmt, form=form)
    return show_handover(request, fmt, made, is_new=True)


@admin_required
@require_safe
def recipient_detail(request: HttpRequest, name: str, fmt: str) -> HttpResponseBase:
    """Show a recipient: the light of its rotation, tokens, grants, activity."""
    now = timezone.now()
    recipient = find_recipient(name)
    detail = recipient_pages.recipient_detail(recipient, now=now)
    return respond(
        request,
        fmt,
        template="sharing/recipient_detail.html",
        context={
            "detail": detail,
            "recipient": recipient,
            "once": once.new_key(),
        },
        data=detail_json(detail),
    )


@admin_required
@require_http_methods(["GET", "HEAD", "POST"])
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
        wanted = recipient_pages.shares_named(form.cleaned_data["shares"])
        change = granting.set_grants(
            recipient, wanted, actor=actor_of(request), now=timezone.now()
        )
        said = f"{recipient.name} reads {len(wanted)} of {len(names)} shares now: "
        said += f"{change.added} added, {change.removed} taken away."
        messages.success(request, said)
        return redirect(recipient)
    return respond(
        request,
        fmt,
        template="sharing/recipient_grants.html",
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
@require_http_methods(["GET", "HEAD", "POST"])
def recipient_settings(request: HttpRequest, name: str, fmt: str) -> HttpResponseBase:
    """Change contact, note and allow list."""
    recipient = find_recipient(name)
    if request.method != "POST":
        return _settings_page(request, recipient, fmt)
    form = SettingsForm(request.POST)
    if form.is_valid():
        try:
            services.update_recipient(
                recipient,
                contact=form.cleaned_data["contact"],
                comment=form.cleaned_data["comment"],
                allowed_networks=form.network_texts,
                actor=actor_of(request),
                now=timezone.now(),
            )
        except SharingStateError as error:
            form.add_error(FIELDS.get(error.code), str(error))
        else:
            messages.success(request, "Saved. It counts from the next request.")
            return redirect("sharing:recipient-settings", recipient.name)
    return _settings_page(request, find_recipient(name), fmt, form=form)


@admin_required
@require_POST
def recipient_delete(request: HttpRequest, name: str) -> HttpResponseBase:
    """Delete a recipient once its name has been typed again."""
    recipient = find_recipient(name)
    form = DeleteForm(request.POST)
    if form.is_valid():
        if form.cleaned_data["confirm"] == recipient.name:
            services.delete_recipient(
                recipient, actor=actor_of(request), now=timezone.now()
            )
            said = f"{name} is deleted; its tokens open nothing any more."
            messages.success(request, said)
            return redirect("sharing:recipient-list")
        form.add_error("confirm", f"Type {recipient.name} to delete it.")
    return _settings_page(request, recipient, "html", delete_form=form)


def _new_page(
    request: HttpRequest, fmt: str, *, form: NewRecipientForm
) -> HttpResponseBase:
    shares = recipient_pages.all_shares()
    return respond(
        request,
        fmt,
        template="sharing/recipient_new.html",
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


def _settings_page(
    request: HttpRequest,
    recipient: Recipient,
    fmt: str,
    *,
    form: Form | None = None,
    delete_form: Form | None = None,
) -> HttpResponseBase:
    failed = any(bound and bound.errors for bound in (form, delete_form))
    initial: dict[str, Any] = {
        "contact": recipient.contact,
        "comment": recipient.comment,
        "networks": "\n".join(recipient.allowed_networks),
    }
    return respond(
        request,
        fmt,
        template="sharing/recipient_settings.html",
        context={
            "recipient": recipient,
            "form": form or SettingsForm(initial=initial),
            "delete_form": delete_form or DeleteForm(),
            "address": actor_of(request).address,
        },
        data={
            "recipient": recipient.name,
            "contact": recipient.contact,
            "comment": recipient.comment,
            "allowed_networks": recipient.allowed_networks,
        },
        status=422 if failed else 200,
    )


def _chosen(form: SharesForm) -> set[str]:
    """Return the names of the shares that are ticked, sent or stored."""
    return set(form["shares"].value() or ())
