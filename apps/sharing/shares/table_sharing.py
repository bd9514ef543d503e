"""The Sharing tab of a table: where it is shared and who reads it."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from apps.accounts.permissions import editor_required, signed_in
from apps.pages.changes import read
from apps.pages.changes.change import EDITOR
from apps.pages.page_json import As, Named, OnPage, Spread, in_json, json_with
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
from apps.tables.head.finding import OF_TABLE, get_own_table
from apps.tables.head.shapes import names_of
from apps.tables.head.table_head import table_head
from apps.tables.models import Table
from apps.tables.permissions import VIEW

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


@editor_required
def table_sharing(
    request: HttpRequest, *, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """Show where a table is shared, who may read it and who did."""
    user = signed_in(request)
    table = get_own_table(user, namespace, name, VIEW)
    found = sharing_of(table, now=timezone.now())
    return respond(
        request,
        fmt,
        template="sharing/shares/table_sharing.html",
        context={
            "head": table_head(table),
            "table": table,
            "found": found,
            "charts": use_charts(found.use.days),
        },
        data=found,
    )


read.reads.register(
    read.Read(
        route=f"{OF_TABLE}/sharing",
        view="TableSharing",
        page="sharing:table-sharing",
        shows=TableSharing,
        help="Get the shares, recipients and reads of a table.",
        role=EDITOR,
    )
)
