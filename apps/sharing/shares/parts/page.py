"""The page *What they see* of a table of a share, where its rule is changed."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Self
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
from apps.pages.changes.forms import place_error, sent_values
from apps.pages.changes.html import change_form_of
from apps.pages.changes.read import Read, reads
from apps.pages.request.changes import value_of
from apps.pages.responses import respond
from apps.sharing.access.grants.preparing import (
    preparation_to_show,
    request_preparation,
)
from apps.sharing.models import PreparedVersion, Recipient, Share, SharedTable
from apps.sharing.names import find_share
from apps.sharing.recipients.changes.settings import UPDATE as UPDATE_RECIPIENT
from apps.sharing.recipients.changes.settings import RecipientChange
from apps.sharing.recipients.properties import property_texts
from apps.sharing.recipients.resource import sent_values as property_values
from apps.sharing.shares.parts.form import NewPart, TypedPart, new_part
from apps.sharing.shares.parts.shown import ShownPart, Viewed, shown_part
from apps.sharing.shares.resources import AddedTable
from apps.sharing.shares.tables.changes import ADD_BY_PAGE, PAGE, UPDATE
from apps.sharing.shares.tables.sharers import find_by_id
from apps.sharing.shares.terms import Terms
from apps.sharing.shares.views import add_again
from apps.tables.catalogue.names import find_table
from deltaweb.delta.errors import DeltaError

ROUTE: Final = f"{PAGE}/<uuid:table_id>/seen"
MAX_TABS: Final = 100
ABOUT_PROPERTIES: Final = (
    "Properties belong to the recipient: a change applies to every share that uses "
    "them, from the next request on."
)
RULE: Final = ("condition", "columns")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A form of this page as it was sent, and the rule that it asks for."""

    shared: SharedTable
    recipients: list[Recipient]
    typed: TypedPart
    part: NewPart

    @classmethod
    def of(cls, request: HttpRequest, shared: SharedTable) -> Self:
        """Return what was asked of a table, which need not be in its share yet."""
        recipients = [*shared.share.recipients.order_by("name_key")]
        typed = TypedPart.of(request.POST)
        part = new_part(typed, shared, shared.table, recipients)
        return cls(shared=shared, recipients=recipients, typed=typed, part=part)

    @property
    def is_changed(self) -> bool:
        """Whether something would be lost without *Save*."""
        part, shared = self.part, self.shared
        is_same = (part.condition, part.columns) == (shared.condition, shared.columns)
        return bool(part.values) or not is_same or part.is_wrong


@admin_required
def share_part(
    request: HttpRequest, *, name: str, table_id: UUID, fmt: str
) -> HttpResponseBase:
    """Show what recipients see of a table, or save its rule and their properties."""
    shared = find_by_id(find_share(name), table_id)
    asked = _Asked.of(request, shared)
    action, _, value = request.POST.get("action", "save").partition(":")
    problem = ""
    if request.method == "POST" and not (asked.part.is_wrong or _looks(request)):
        if action == "save":
            for sentence in save_part(shared, asked.part, stamp=stamp_of(request)):
                messages.success(request, sentence)
            return _to(request, shared, shared.id)
        if action == "tab" and not asked.is_changed:
            return _to(request, shared, value)
        problem = UNSAVED if action == "tab" else ""
    tabs = _tabs(shared)
    return _part_page(request, asked, request.path, fmt=fmt, problem=problem, tabs=tabs)


def part_of_new(request: HttpRequest, share: Share) -> HttpResponseBase | None:
    """Show what recipients will see of a table, or add it with its rule.

    None if the form of a new table was sent without this step, or has an error.
    """
    posted = request.POST.copy()
    if "shown" in posted:  # then boxes say which columns, by any names
        posted.pop("columns", None)
    form = change_form_of(ADD_BY_PAGE, posted)
    action = request.POST.get("action", "")
    if not (action or _looks(request)) or not form.is_valid():
        return None
    sent = AddedTable(**sent_values(form, AddedTable))
    try:
        asked = _Asked.of(request, _new_table(share, sent))
    except DeltaError:
        return None  # the table is not registered
    is_saved = action == "save" and not (asked.part.is_wrong or _looks(request))
    if is_saved or not _looks(request):
        try:
            said = _add(asked, sent, stamp_of(request), is_trial=not is_saved)
        except DeltaError as error:
            place_error(form, AddedTable, error)
            return add_again(request, share, form)
        if is_saved:
            for sentence in said:
                messages.success(request, sentence)
            return redirect(share)
    names = [name for name in form.fields if name not in RULE]
    kept = [(name, one) for name in names for one in request.POST.getlist(name)]
    return _part_page(request, asked, request.path, kept=kept)


def _new_table(share: Share, sent: AddedTable) -> SharedTable:
    """Return a table as its form describes it, which is not saved."""
    table = find_table(sent.table)
    return SharedTable(
        share=share,
        table=table,
        schema=sent.schema or table.namespace,
        name=sent.name or table.name,
        **sent.versions,
        plain=sent.plain is True,
        # A list that came without boxes still narrows.
        columns=value_of(sent.columns, [], removed=[]),
    )


def _add(asked: _Asked, sent: AddedTable, stamp: Stamp, *, is_trial: bool) -> list[str]:
    """Add a table with its rule, and change the properties of its recipients.

    Args:
        is_trial: Whether only the names and the versions are tried.

    Returns:
        What was changed, in sentences.
    """
    share, part = asked.shared.share, asked.part
    condition, columns = part.condition or None, part.columns or None
    if is_trial:
        condition = columns = None
    with transaction.atomic():
        new = replace(sent, condition=condition, columns=columns)
        said = [ADD_BY_PAGE.says(ADD_BY_PAGE.carry_out(share, new, stamp))]
        if is_trial:
            transaction.set_rollback(True)
            return said
        said += _save_values(share, part, stamp)
        _prepare(share, is_whole=not (condition or columns), stamp=stamp)
    return said


def _looks(request: HttpRequest) -> bool:
    """Whether the form is only looked at, while it is filled in."""
    return "HX-Request" in request.headers


def _part_page(
    request: HttpRequest,
    asked: _Asked,
    send: str,
    *,
    fmt: str = "html",
    problem: str = "",
    **more: object,
) -> HttpResponseBase:
    """Answer with the page, or with its part.

    Args:
        send: Where its form is sent to.
        problem: Why what was sent was not done.
        more: What the template needs besides.
    """
    shared = asked.shared
    own = {rule.recipient_id: rule for rule in shared.rules.all()}
    shown = shown_part(
        shared.table,
        asked.part,
        [Viewed(recipient=one, own=own.get(one.id)) for one in asked.recipients],
        viewed=_viewed(request),
        typed=asked.typed,
        proofs=_proofs(shared),
        is_plain=shared.is_plain,
        user=signed_in(request),
        now=timezone.now(),
    )
    context = {
        "share": shared.share,
        "shared": shared,
        "part": shown,
        "tab": str(shared.id),
        "tabs": [(str(shared.id), shared.full_name)],
        "problem": problem,
        "is_changed": asked.is_changed,
        "preparation": preparation_to_show(shared.share),
        "delay_s": _delay_s(shared, shown.proof),
        **form_context(shown, send),
        **more,
    }
    if _looks(request):
        return render(request, "sharing/shares/_what_they_see.html", context)
    return respond(
        request,
        fmt,
        template="sharing/shares/share_part.html",
        context=context,
        data=_resource(shared, shown),
        status=422 if problem or asked.part.is_wrong else 200,
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
    said += _save_values(shared.share, part, stamp)
    _prepare(shared.share, is_whole=shared.is_whole, stamp=stamp)
    return said


def _save_values(share: Share, part: NewPart, stamp: Stamp) -> Iterator[str]:
    """Change the properties of recipients, and yield what they are now."""
    for recipient in share.recipients.filter(name__in=part.values):
        texts = property_texts(part.values[recipient.name])
        change = RecipientChange(**property_values(texts))
        UPDATE_RECIPIENT.carry_out(recipient, change, stamp)
        yield f"{recipient.name} is now {', '.join(texts) or 'without property'}."


def _prepare(share: Share, *, is_whole: bool, stamp: Stamp) -> None:
    if not is_whole and share.off_since is None:
        request_preparation(share, proves=True, now=stamp.at)


def _viewed(request: HttpRequest) -> str:
    return str(request.POST.get("as", request.GET.get("as", "")))


def _to(
    request: HttpRequest, shared: SharedTable, table_id: object
) -> HttpResponseBase:
    """Lead to a table of the share, if it has this one."""
    tables = [str(one.id) for one in shared.share.shared_tables.only("id")]
    wanted = str(table_id) if str(table_id) in tables else str(shared.id)
    address = reverse("sharing:share-part", args=[shared.share.name, wanted])
    viewed = _viewed(request)
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


def _delay_s(shared: SharedTable, ready: PreparedVersion | None) -> float | None:
    """Return how long after its commit a version was ready.

    None without one, and for the first under its rule: it was not prepared for a
    commit, but for the rule.
    """
    if ready is None:
        return None
    earlier = PreparedVersion.objects.filter(
        shared_table=shared, rule=ready.rule, version__lt=ready.version
    )
    commits = shared.table.commits.filter(version=ready.version)
    made_at = commits.values_list("committed_at", flat=True).first()
    if made_at is None or not earlier.exists():
        return None
    return max(0.0, (ready.prepared_at - made_at).total_seconds())


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
