"""The page *What they see* of a table of a share, where its rule is changed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from apps.accounts.permissions import admin_required, signed_in
from apps.pages.actions import Stamp, stamp_of
from apps.pages.changes.change import ADMIN
from apps.pages.changes.read import Read, reads
from apps.pages.responses import respond
from apps.sharing.access.grants.preparing import (
    preparation_to_show,
    request_preparation,
)
from apps.sharing.models import PreparedVersion, SharedTable
from apps.sharing.recipients.changes.settings import UPDATE as UPDATE_RECIPIENT
from apps.sharing.recipients.changes.settings import RecipientChange
from apps.sharing.recipients.properties import property_texts
from apps.sharing.recipients.resource import sent_values
from apps.sharing.shares.parts.form import NewPart, TypedPart, new_part
from apps.sharing.shares.parts.shown import ShownPart, Viewed, shown_part
from apps.sharing.shares.tables.changes import PAGE, UPDATE, find_by_id
from apps.sharing.shares.terms import Terms

ROUTE: Final = f"{PAGE}/<uuid:table_id>/seen"
MAX_TABS: Final = 100
ABOUT_PROPERTIES: Final = (
    "Properties belong to the recipient: a change applies to every share that uses "
    "them, from the next request on."
)
UNSAVED: Final = "Save the changes of this table first, or discard them."


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsSeen:
    """The rows of a table that a recipient sees.

    Attributes:
        recipient: The name of the recipient.
        values: The properties that the condition uses; null for one that is
            not set.
        num_rows: The number of rows; null while a job counts them.
    """

    recipient: str
    values: dict[str, str | None]
    num_rows: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartResource:
    """What recipients see of a table of a share.

    Attributes:
        table: The table, as `schema.table`.
        condition: Only rows that meet this condition are shared; null for all rows.
        columns: The columns that are shared.
        version: The version that was examined; null if there is no preview.
        num_rows: The number of rows of the table; null if its log does not say.
        recipients: What each recipient sees, for the first of them.
        viewed: The recipient for which the files are counted; null without one.
        untouched_files: The number of files that are shared unchanged.
        rewritten_files: The number of files that are rewritten for the recipient.
        left_out_files: The number of files without a row that is shared.
        rows_outside: The number of shared rows that do not meet the condition, by the
            newest proof of this rule; null if there is no proof.
    """

    table: str
    condition: str | None
    columns: list[str]
    version: int | None
    num_rows: int | None
    recipients: list[RowsSeen]
    viewed: str | None
    untouched_files: int | None
    rewritten_files: int | None
    left_out_files: int | None
    rows_outside: int | None


@admin_required
def share_part(
    request: HttpRequest, *, name: str, table_id: UUID, fmt: str
) -> HttpResponseBase:
    """Show what recipients see of a table, or save its rule and their properties."""
    shared = find_by_id(name, table_id)
    viewed = request.POST.get("as", request.GET.get("as", ""))
    recipients = [*shared.share.recipients.order_by("name_key")]
    typed = TypedPart.of(request.POST)
    part = new_part(typed, shared, shared.table, recipients)
    looks = "HX-Request" in request.headers
    action, _, value = request.POST.get("action", "save").partition(":")
    is_changed = bool(part.values) or (part.condition, part.columns) != (
        shared.condition,
        shared.columns,
    )
    problem = ""
    if request.method == "POST" and not (part.is_wrong or looks):
        if action == "save":
            for sentence in save_part(shared, part, stamp=stamp_of(request)):
                messages.success(request, sentence)
            return _to(shared, shared.id, viewed)
        if action == "tab" and not is_changed:
            return _to(shared, value, viewed)
        problem = UNSAVED if action == "tab" else ""
    own = {rule.recipient_id: rule for rule in shared.rules.all()}
    shown = shown_part(
        shared.table,
        part,
        [Viewed(recipient=one, own=own.get(one.id)) for one in recipients],
        viewed=viewed,
        typed=typed,
        proofs=_proofs(shared),
        user=signed_in(request),
        now=timezone.now(),
    )
    is_refused = bool(problem) or part.is_wrong
    context = {
        "share": shared.share,
        "shared": shared,
        "part": shown,
        "tab": str(shared.id),
        "tabs": _tabs(shared),
        "problem": problem,
        "is_changed": is_changed or part.is_wrong,
        "preparation": preparation_to_show(shared.share),
        **form_context(shown, reverse("sharing:share-part", args=[name, table_id])),
    }
    if looks:
        return render(request, "sharing/shares/_what_they_see.html", context)
    return respond(
        request,
        fmt,
        template="sharing/shares/share_part.html",
        context=context,
        data=_resource(shared, shown),
        status=422 if is_refused else 200,
    )


def form_context(part: ShownPart, address: str) -> dict[str, str]:
    """Return what the form of a part needs.

    Args:
        part: What is shown.
        address: Where it is sent to.
    """
    return {
        "send": address,
        "shown_names": json.dumps(part.names),
        "about_properties": ABOUT_PROPERTIES,
    }


@transaction.atomic
def save_part(shared: SharedTable, part: NewPart, *, stamp: Stamp) -> list[str]:
    """Change the rule of a table and the properties of its recipients.

    Returns:
        What was changed, in sentences.
    """
    terms = Terms(condition=part.condition or None, columns=part.columns or None)
    said = [UPDATE.says(UPDATE.carry_out(shared, terms, stamp))]
    for recipient in shared.share.recipients.filter(name__in=part.values):
        texts = property_texts(part.values[recipient.name])
        change = RecipientChange(**sent_values(texts))
        UPDATE_RECIPIENT.carry_out(recipient, change, stamp)
        said.append(
            f"{recipient.name} is now {', '.join(texts) or 'without property'}."
        )
    if not shared.is_whole and shared.share.off_since is None:
        request_preparation(shared.share, proves=True, now=stamp.at)
    return said


def _to(shared: SharedTable, table_id: object, viewed: str) -> HttpResponseBase:
    """Lead to a table of the share, if it has this one."""
    tables = [str(one.id) for one in shared.share.shared_tables.only("id")]
    wanted = str(table_id) if str(table_id) in tables else str(shared.id)
    address = reverse("sharing:share-part", args=[shared.share.name, wanted])
    query = f"?{urlencode({'as': viewed})}" if viewed else ""
    return redirect(f"{address}{query}")


def _tabs(shared: SharedTable) -> list[tuple[str, str]]:
    """Return the tables of the share that have a tab, this one among them."""
    others = [*shared.share.shared_tables.all()[:MAX_TABS]]
    tables = others if shared in others else [shared, *others[1:]]
    return [(str(one.id), one.full_name) for one in tables]


def _proofs(shared: SharedTable) -> Mapping[str, PreparedVersion]:
    """Return the newest version that is ready under each rule, by its digest."""
    rows = PreparedVersion.objects.filter(shared_table=shared)
    return {row.rule: row for row in rows.order_by("version", "prepared_at")}


def _resource(shared: SharedTable, part: ShownPart) -> PartResource:
    preview = part.preview
    return PartResource(
        table=shared.full_name,
        condition=part.condition or None,
        columns=[column.name for column in part.columns if column.is_seen],
        version=preview.version if preview else None,
        num_rows=part.num_rows,
        recipients=_rows_seen(part),
        viewed=part.viewed or None,
        untouched_files=preview.untouched.num_files if preview else None,
        rewritten_files=preview.rewritten.num_files if preview else None,
        left_out_files=preview.left_out.num_files if preview else None,
        rows_outside=part.proof.num_outside if part.proof else None,
    )


def _rows_seen(part: ShownPart) -> list[RowsSeen]:
    return [
        RowsSeen(
            recipient=one.name,
            values={held.key: held.value or None for held in one.values},
            num_rows=one.num_rows,
        )
        for one in part.readers
    ]


reads.register(
    Read(
        route=ROUTE,
        view="SharedPart",
        page="sharing:share-part",
        shows=PartResource,
        help="Get what recipients see of a table of a share.",
        role=ADMIN,
    )
)
