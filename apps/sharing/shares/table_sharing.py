"""What the Sharing tab of a table shows: where it is shared and who reads it."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from deltaweb.web.sharing.activity.event_rows import EventRow, event_row
from deltaweb.web.sharing.activity.usage import (
    USE_DAYS,
    DailyUse,
    calls,
    daily_use,
    last_days,
    reads,
)
from deltaweb.web.sharing.clients.preflight import Preflight, preflight, preflight_data
from deltaweb.web.sharing.models import Grant, Recipient, Share, SharedTable
from deltaweb.web.sharing.recipients.listing import RecipientRow, recipient_rows
from deltaweb.web.sharing.shares.detail import (
    use_data,
)
from deltaweb.web.tables.models import Table

READS_SHOWN = 8
SHARES_OFFERED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSharing:
    """A table in the eyes of those who share it.

    Attributes:
        shared_tables: Its places in shares.
        recipients: Who may read it, each with the names of the shares by which.
        preflight: What clients make of the table.
        use: What recipients asked of it, day by day.
        last_reads: The newest times that its rows were asked for.
        other_shares: Some shares that it could be added to.
    """

    shared_tables: list[SharedTable]
    recipients: list[tuple[RecipientRow, list[str]]]
    preflight: Preflight
    use: list[DailyUse]
    last_reads: list[EventRow]
    other_shares: list[Share]


def table_sharing(table: Table, *, now: datetime) -> TableSharing:
    """Return what the Sharing tab of a table shows."""
    shared = list(
        SharedTable.objects.filter(table=table)
        .select_related("share")
        .order_by("share__name_key", "schema_key", "name_key")
    )
    share_ids = {one.share_id for one in shared}
    readers = Recipient.objects.filter(grants__share__in=share_ids).distinct()
    events = calls(table_id=table.id)
    others = Share.objects.exclude(id__in=share_ids).order_by("name_key")
    shares_of = _shares_of(share_ids)
    return TableSharing(
        shared_tables=shared,
        recipients=[
            (row, shares_of[row.recipient.id])
            for row in recipient_rows(readers, now=now)
        ],
        preflight=preflight(table),
        use=daily_use(events, days=last_days(USE_DAYS, now=now)),
        last_reads=[event_row(event) for event in reads(events)[:READS_SHOWN]],
        other_shares=list(others[:SHARES_OFFERED]),
    )


def table_sharing_data(found: TableSharing) -> dict[str, Any]:
    """Return the tab as its JSON form shows it."""
    return {
        "shares": [
            {
                "share": one.share.name,
                "schema": one.schema,
                "name": one.name,
                "with_history": one.with_history,
                "start_version": one.start_version,
                "partition_filter": one.partition_filter or None,
            }
            for one in found.shared_tables
        ],
        "recipients": [
            {
                "name": row.recipient.name,
                "shares": names,
                "token_state": row.state.key,
                "last_used_at": row.last_used_at,
            }
            for row, names in found.recipients
        ],
        "clients": preflight_data(found.preflight),
        "usage": use_data(found.use),
        "last_reads": [
            {
                "at": row.event.at,
                "recipient": row.event.recipient,
                "share": row.event.share,
                "version": row.event.version,
                "status": row.event.status,
                "num_files": row.event.num_files,
                "size_bytes": row.event.size_bytes,
            }
            for row in found.last_reads
        ],
    }


def _shares_of(share_ids: Collection[UUID]) -> dict[UUID, list[str]]:
    """Return the names of the shares by which each recipient reads some."""
    grants = Grant.objects.filter(share__in=share_ids).order_by("share__name_key")
    names: dict[UUID, list[str]] = defaultdict(list)
    for recipient_id, name in grants.values_list("recipient_id", "share__name"):
        names[recipient_id].append(name)
    return names
