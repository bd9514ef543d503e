"""What the page of one share shows, and the choices of its forms."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Q

from deltaweb.delta.log.versions import ReadableRun
from deltaweb.web.pages.paging import Paged, paged
from deltaweb.web.sharing.activity.usage import (
    FIRST_FAILED_STATUS,
    USE_DAYS,
    DailyUse,
    calls,
    daily_use,
    last_days,
    reads,
)
from deltaweb.web.sharing.clients.preflight import Preflight, preflight_data, preflights
from deltaweb.web.sharing.models import Recipient, Share, SharedTable
from deltaweb.web.sharing.recipients.listing import RecipientRow, recipient_rows
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.versions.readable import lost_runs, told

CHOICES_LENGTH = 20
TABLES_LENGTH = 100  # on a page of one share
RECIPIENTS_SHOWN = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedTableRow:
    """A table of a share, with what clients make of it.

    Attributes:
        shared_table: The table.
        preflight: Which clients can read its newest version.
        lost_runs: Versions that are offered, and cannot be read any more.
    """

    shared_table: SharedTable
    preflight: Preflight
    lost_runs: list[ReadableRun] = field(default_factory=list)

    @property
    def lost_versions(self) -> str:
        """Which of the versions that are offered cannot be read, in words."""
        return told(self.lost_runs)

    @property
    def versions(self) -> str:
        """Which versions are offered, in words."""
        if not self.shared_table.with_history:
            return "the newest version only"
        start = self.shared_table.start_version
        return "all versions" if start is None else f"from v{start} on"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareDetail:
    """One share with a page of its tables, its readers and what they did with it.

    `num_recipients` counts all readers; `recipients` are the first by name.
    """

    share: Share
    tables: list[SharedTableRow]
    paged: Paged
    recipients: list[RecipientRow]
    num_recipients: int
    use: list[DailyUse]
    last_read_at: datetime | None

    @property
    def warnings(self) -> list[SharedTableRow]:
        """Tables that some client cannot read."""
        return [
            row for row in self.tables if row.preflight.state in {"partly", "refused"}
        ]


def share_detail(share: Share, *, now: datetime, page: int = 1) -> ShareDetail:
    """Return what the page of a share shows."""
    shared = share.shared_tables.select_related("table", "share")
    place = paged(shared.count(), page, length=TABLES_LENGTH)
    runs = F("table__summary__readable_runs")
    rows = shared.defer("table__summary").annotate(readable_runs=runs)
    tables = list(rows[place.start : place.last])
    readers = share.recipients.order_by("name_key")
    first = readers.values_list("id", flat=True)[:RECIPIENTS_SHOWN]
    found = preflights({row.table_id for row in tables})
    events = calls(share=share.name)
    answered = reads(events.filter(status__lt=FIRST_FAILED_STATUS))
    return ShareDetail(
        share=share,
        tables=[
            SharedTableRow(
                shared_table=row,
                preflight=found[row.table_id],
                lost_runs=_lost_runs(row, row.readable_runs),
            )
            for row in tables
        ],
        paged=place,
        recipients=recipient_rows(
            Recipient.objects.filter(id__in=list(first)), now=now
        ),
        num_recipients=readers.count(),
        use=daily_use(events, days=last_days(USE_DAYS, now=now)),
        last_read_at=answered.values_list("at", flat=True).first(),
    )


def _lost_runs(shared: SharedTable, readable_runs: object) -> list[ReadableRun]:
    """Return what a table offers of its history and does not have."""
    if not shared.with_history:
        return []
    return lost_runs(readable_runs, first=shared.start_version or 0)


def edited_table(share: Share, wanted: str) -> SharedTableRow | None:
    """Return the table of a share that an address names by its id, or None."""
    try:
        table_id = UUID(wanted)
    except ValueError:
        return None
    shared = share.shared_tables.select_related("table", "share")
    one = shared.filter(id=table_id).first()
    if one is None:
        return None
    found = preflights([one.table_id])[one.table_id]
    return SharedTableRow(shared_table=one, preflight=found)


def ungranted_recipients(share: Share, *, q: str) -> list[Recipient]:
    """Return some recipients who may not read a share yet, by name."""
    others = Recipient.objects.exclude(grants__share=share)
    if q:
        others = others.filter(Q(name__icontains=q) | Q(contact__icontains=q))
    return list(others.order_by("name_key")[:CHOICES_LENGTH])


def table_choices(*, q: str, page: int) -> tuple[list[Table], Paged]:
    """Return a page of the registered tables whose name holds `q`."""
    tables = Table.objects.defer("summary").order_by("namespace", "name")
    if q:
        namespace, dot, name = q.rpartition(".")
        named = Q(name__icontains=q) | Q(namespace__icontains=q)
        if dot and namespace and name:
            named |= Q(namespace__iendswith=namespace, name__istartswith=name)
        tables = tables.filter(named)
    place = paged(tables.count(), page, length=CHOICES_LENGTH)
    return list(tables[place.start : place.last]), place


def find_table(name: str) -> Table | None:
    """Return a registered table by `namespace.table` or its bare name."""
    namespace, dot, bare = name.strip().rpartition(".")
    if "\x00" in name:
        return None
    return Table.objects.filter(
        namespace=namespace if dot else "default", name=bare
    ).first()


def share_data(detail: ShareDetail) -> dict[str, Any]:
    """Return a share as the JSON form of its page shows it."""
    return {
        "name": detail.share.name,
        "id": detail.share.id,
        "comment": detail.share.comment,
        "created_at": detail.share.created_at,
        "last_read_at": detail.last_read_at,
        "num_tables": detail.paged.count,
        "num_recipients": detail.num_recipients,
        "tables": [
            {
                "id": row.shared_table.id,
                "schema": row.shared_table.schema,
                "name": row.shared_table.name,
                "table": row.shared_table.table.full_name,
                "with_history": row.shared_table.with_history,
                "start_version": row.shared_table.start_version,
                "lost_versions": [[run.first, run.last] for run in row.lost_runs],
                "partition_filter": row.shared_table.partition_filter or None,
                "comment": row.shared_table.comment,
                "added_at": row.shared_table.added_at,
                "clients": preflight_data(row.preflight),
            }
            for row in detail.tables
        ],
        "recipients": [
            {
                "name": row.recipient.name,
                "token_state": row.state.key,
                "token_ends_at": row.state.ends_at,
                "last_used_at": row.last_used_at,
            }
            for row in detail.recipients
        ],
        "usage": use_data(detail.use),
    }


def use_data(days: Sequence[DailyUse]) -> list[dict[str, Any]]:
    """Return the days of a use as the JSON forms show them."""
    return [
        {
            "day": day.day,
            "answered": day.num_answered,
            "refused": day.num_refused,
            "size_bytes": day.size_bytes,
        }
        for day in days
    ]
