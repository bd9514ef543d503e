"""Schemas that are shared whole, on the page of a share."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect

from deltaweb.delta.errors import DeltaError
from deltaweb.web.accounts.permissions import admin_required
from deltaweb.web.pages.actions import stamp_of
from deltaweb.web.sharing.names import find_share
from deltaweb.web.sharing.shares import schemas
from deltaweb.web.sharing.shares.forms import AddSchemaForm


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
