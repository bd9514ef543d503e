"""The Sharing tab of a table: where it is shared and who reads it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from apps.accounts.permissions import signed_in
from apps.pages.changes import read
from apps.pages.changes.change import VIEWER
from apps.pages.changes.html import change_form
from apps.pages.page_json import As, Named, OnPage, Spread, in_json, json_with
from apps.pages.request.changes import ChangeForm
from apps.pages.responses import respond
from apps.sharing.access.withdrawals import with_parts
from apps.sharing.activity.charts import use_charts
from apps.sharing.activity.event_rows import EventRow, event_row
from apps.sharing.activity.usage import DailyUse, calls, reads
from apps.sharing.activity.use_resource import UseResource, use_resource
from apps.sharing.clients.preflight import Preflight, preflight, preflight_data
from apps.sharing.models import Grant, Recipient, Share, SharedTable
from apps.sharing.recipients.listing import RecipientRow, recipient_rows
from apps.sharing.shares.resources import shared_table_resource
from apps.sharing.shares.tables.changes import ADD_HERE, UPDATE
from apps.sharing.shares.tables.rules import PUT, RuleResource, rules_of
from apps.sharing.shares.tables.sharers import Offer, Reader
from apps.tables.head.finding import OF_TABLE, get_own_table, get_table
from apps.tables.head.shapes import names_of
from apps.tables.head.table_head import table_head
from apps.tables.models import Table
from apps.tables.permissions import SHARE, VIEW

READS_SHOWN = 8
SHARES_OFFERED = 100


# How to reach a recipient, and from where it calls, is for administrators.
def _reader(row: RecipientRow) -> dict[str, object]:
    return _some(row.resource, "name", "state", "token_state", "last_used_at")


def _reads(rows: list[EventRow]) -> list[dict[str, object]]:
    names = ("at", "recipient", "share", "schema", "table", "version", "status")
    return [_some(row, *names, "num_files", "size_bytes") for row in rows]


def _use(use: UseResource) -> dict[str, object]:
    names = ("num_days", "num_requests", "num_refused", "size_bytes", "days")
    return _some(use, *names)


def _some(value: object, *names: str) -> dict[str, object]:
    """Return some keys of a value, as its JSON form has them."""
    shown = json_with(value)
    return {name: shown[name] for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReader:
    """A recipient, and the names of the shares by which it reads a table."""

    row: Spread[Annotated[RecipientRow, As(_reader)]]
    by_shares: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSharing:
    """A table in the eyes of those who share it.

    Attributes:
        readers: The recipients that can read the table.
        use: The requests of recipients for the table, by day.
        last_reads: The last requests for its rows.
    """

    names: Spread[Mapping[str, object]]
    shared_tables: Annotated[
        list[SharedTable],
        Named("shares"),
        As(lambda shared: [shared_table_resource(one) for one in shared]),
    ]
    readers: list[TableReader]
    preflight: Annotated[Preflight, Named("clients"), As(preflight_data)]
    use: Annotated[UseResource, As(_use)]
    last_reads: Annotated[list[EventRow], As(_reads)]
    other_shares: OnPage[list[Share]]

    @in_json
    def usage(self) -> Sequence[DailyUse]:
        """The days of its use, by their old name."""
        return self.use.days


def sharing_of(table: Table, *, now: datetime) -> TableSharing:
    """Return what the Sharing tab of a table shows."""
    shared = list(
        with_parts(SharedTable.objects.filter(table=table))
        .select_related("share", "table", "from_schema")
        .order_by("share__name_key", "schema_key", "name_key")
    )
    share_ids = {one.share_id for one in shared}
    readers = Recipient.objects.filter(grants__share__in=share_ids).distinct()
    events = calls(table_id=table.id)
    others = Share.objects.exclude(id__in=share_ids).order_by("name_key")
    shares_of = _shares_of(share_ids)
    return TableSharing(
        names=names_of(table),
        shared_tables=shared,
        readers=[
            TableReader(row=row, by_shares=shares_of[row.recipient.id])
            for row in recipient_rows(readers, now=now)
        ],
        preflight=preflight(table),
        use=use_resource(events, now=now),
        last_reads=[event_row(event) for event in reads(events)[:READS_SHOWN]],
        other_shares=list(others[:SHARES_OFFERED]),
    )


def _shares_of(share_ids: Collection[UUID]) -> dict[UUID, list[str]]:
    """Return the names of the shares by which each recipient reads some."""
    grants = Grant.objects.filter(share__in=share_ids).order_by("share__name_key")
    names: dict[UUID, list[str]] = defaultdict(list)
    for recipient_id, name in grants.values_list("recipient_id", "share__name"):
        names[recipient_id].append(name)
    return names


def table_sharing(
    request: HttpRequest, *, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """Show where a table is shared, who may read it and who did.

    Editors see it, and people who may share the table: these change it as well.
    """
    user = signed_in(request)
    needed = VIEW if user.is_editor else SHARE
    return _tab(request, get_own_table(user, namespace, name, needed), fmt)


def add_again(request: HttpRequest, offer: Offer, form: ChangeForm) -> HttpResponseBase:
    """Show the tab with the form that adds the table to a share, and its errors."""
    return _again(request, offer.table, add_form=form, added_to=offer.share.name)


def edit_again(
    request: HttpRequest, shared: SharedTable, form: ChangeForm
) -> HttpResponseBase:
    """Show the tab with the form of the table in a share, and its errors."""
    return _again(request, shared.table, edited=shared.id, edit_form=form)


def rule_again(
    request: HttpRequest, reader: Reader, form: ChangeForm
) -> HttpResponseBase:
    """Show the tab with the form of the rule of a recipient, and its errors."""
    shared, recipient = reader
    return _again(
        *(request, shared.table), edited=shared.id, ruled=recipient.name, rule_form=form
    )


def _to_rule(
    shared: SharedTable, rules: Iterable[RuleResource], ruled: str
) -> list[str]:
    """Return the recipients that the form of a rule offers.

    It is filled in with the rule of `ruled`. Others that have one are not offered,
    because an empty form removes it.
    """
    names = shared.share.recipients.order_by("name_key").values_list("name", flat=True)
    if ruled in names:
        return [ruled]
    taken = {one.recipient for one in rules}
    return [name for name in names if name not in taken]


def _again(request: HttpRequest, table: Table, **forms: Any) -> HttpResponseBase:  # noqa: ANN401 (of `_tab`)
    known = get_table(request.user, table.namespace, table.name)
    return _tab(request, known, "html", status=422, **forms)


def _tab(  # noqa: PLR0913 (each is one form of the page)
    request: HttpRequest,
    table: Table,
    fmt: str,
    *,
    add_form: ChangeForm | None = None,
    added_to: str = "",
    edited: UUID | None = None,
    edit_form: ChangeForm | None = None,
    ruled: str = "",
    rule_form: ChangeForm | None = None,
    status: int = 200,
) -> HttpResponseBase:
    found = sharing_of(table, now=timezone.now())
    wanted = str(edited or request.GET.get("edit", ""))
    shared = next((one for one in found.shared_tables if str(one.id) == wanted), None)
    if not getattr(table, "may_share", False):
        shared = None
    rules = list(rules_of(shared, signed_in(request)).rules) if shared else []
    ruled = ruled or request.GET.get("rule", "")
    own = next((one for one in rules if one.recipient == ruled), None)
    stored = {"condition": own and own.condition, "columns": own and own.columns}
    return respond(
        request,
        fmt,
        template="sharing/shares/table_sharing.html",
        context={
            "head": table_head(table),
            "table": table,
            "found": found,
            "charts": use_charts(found.use.days),
            "add_form": add_form or change_form(ADD_HERE, **SharedTable().offer),
            "added_to": added_to,
            "editing": shared,
            "edit_form": edit_form
            or (change_form(UPDATE, **shared.offer) if shared else None),
            "rules": rules,
            "ruled": ruled,
            "rule_form": rule_form or change_form(PUT, **stored),
            "readers": _to_rule(shared, rules, ruled) if shared else [],
        }
        if fmt == "html"
        else {},
        data=found,
        status=status,
    )


read.reads.register(
    read.Read(
        route=f"{OF_TABLE}/sharing",
        view="TableSharing",
        page="sharing:table-sharing",
        shows=TableSharing,
        help="Get the shares, recipients and reads of a table.",
        without="edit rule",
        role=VIEWER,
    )
)
