"""What is set of a share: name, comment, end, and schemas that it has whole."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone

from apps.accounts.permissions import admin_required
from apps.pages.actions import stamp_of
from apps.pages.responses import respond
from apps.sharing.access.grants.preparing import request_preparation
from apps.sharing.issuing.forms import place_error
from apps.sharing.models import Share
from apps.sharing.names import find_share
from apps.sharing.recipients.forms import ConfirmForm
from apps.sharing.shares import schemas, services
from apps.sharing.shares.forms import AddSchemaForm, ShareForm
from apps.sharing.shares.switching import urls_end_text
from deltaweb.delta.errors import DeltaError


@admin_required
def schema_add(request: HttpRequest, *, name: str) -> HttpResponseBase:
    """Share a namespace whole."""
    share = find_share(name)
    form = AddSchemaForm(request.POST)
    if not form.is_valid():
        messages.error(request, " ".join(str(e[0]) for e in form.errors.values()))
        return redirect(share)
    stamp = stamp_of(request)
    facts = form.cleaned_data
    facts["schema"] = facts["schema"] or facts["namespace"]
    try:
        added = schemas.add_schema(share, **facts, stamp=stamp)
    except DeltaError as error:
        messages.error(request, str(error))
    else:
        said = f"{share.name} has {added.namespace} whole, as {added.schema}."
        messages.success(request, said)
    return redirect(share)


@admin_required
def schema_remove(
    request: HttpRequest, *, name: str, schema_id: UUID
) -> HttpResponseBase:
    """Take a whole schema out of a share."""
    share = find_share(name)
    schema = get_object_or_404(
        share.shared_schemas.select_related("share"), id=schema_id
    )
    schemas.remove_schema(schema, stamp=stamp_of(request))
    messages.success(request, f"{schema.schema} is no longer in {share.name}.")
    return redirect(share)


@admin_required
def share_settings(request: HttpRequest, *, name: str, fmt: str) -> HttpResponseBase:
    """Show the forms."""
    return _page(request, find_share(name), fmt)


@admin_required
def share_update(request: HttpRequest, *, name: str) -> HttpResponseBase:
    """Rename a share and set its comment."""
    share = find_share(name)
    form = ShareForm(request.POST)
    if form.is_valid():
        stamp = stamp_of(request)
        try:
            services.rename_share(share, name=form.cleaned_data["name"], stamp=stamp)
        except DeltaError as error:
            place_error(form, error)
        else:
            services.update_share(share, comment=form.changes["comment"], stamp=stamp)
            messages.success(request, "Saved.")
            return redirect("sharing:share-settings", share.name)
    return _page(request, find_share(name), "html", form=form)


@admin_required
def share_switch(request: HttpRequest, *, name: str) -> HttpResponseBase:
    """Turn a share off at once, or on again."""
    share, stamp = find_share(name), stamp_of(request)
    is_on = "on" in request.POST
    services.switch_share(share, is_on=is_on, stamp=stamp)
    if is_on:
        messages.success(request, f"{share.name} is on: its recipients read it again.")
    else:
        until = urls_end_text(share, now=stamp.at)
        messages.success(request, f"{share.name} is off: nobody reads it. {until}")
    return redirect(share)


@admin_required
def share_prepare(request: HttpRequest, *, name: str) -> HttpResponseBase:
    """Queue what is to be rewritten, and a proof of what recipients get."""
    share = find_share(name)
    request_preparation(share, proves="prove" in request.POST, now=timezone.now())
    messages.success(request, "Requested: this page shows what came of it.")
    return redirect(share)


@admin_required
def share_delete(request: HttpRequest, *, name: str) -> HttpResponseBase:
    """Delete a share once its name has been typed again."""
    share = find_share(name)
    form = ConfirmForm(request.POST, name=share.name, kind="share")
    if not form.is_valid():
        return _page(request, share, "html", confirm_form=form)
    services.delete_share(share, stamp=stamp_of(request))
    said = f"The share {share.name} is deleted; recipients can no longer read it."
    messages.success(request, said)
    return redirect("sharing:share-list")


def _page(
    request: HttpRequest,
    share: Share,
    fmt: str,
    *,
    form: ShareForm | None = None,
    confirm_form: ConfirmForm | None = None,
) -> HttpResponseBase:
    present = {"name": share.name, "comment": share.comment}
    num_recipients = share.recipients.count()
    return respond(
        request,
        fmt,
        template="sharing/shares/share_settings.html",
        context={
            "share": share,
            "num_recipients": num_recipients,
            "form": form or ShareForm(initial=present),
            "confirm_form": confirm_form or ConfirmForm(name=share.name, kind="share"),
        },
        data={**present, "num_recipients": num_recipients},
        status=422 if form or confirm_form else 200,
    )
