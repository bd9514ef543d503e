"""The lakes that there are, and what is shown of one."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from apps.jobs.models import Job
from apps.pages.lists.paging import Paged, PageLinks, paged
from apps.pages.page_json import OnPage, Spread, in_json, shaped
from apps.tables.catalogue.lakes.scan_job import SCAN_ROOT, newest_scan
from apps.tables.catalogue.scanning import ScanResult
from apps.tables.models import Lake, StorageConnection, Table
from apps.tables.models.schedules import (
    ONLY_WHEN_ASKED_S,
    schedule_name,
    schedule_words,
)
from apps.tables.storage.locations import is_remote
from apps.tables.storage.received import is_received
from deltaweb.storage.spellings import holds

MOST_VANISHED: Final = 100  # names on a page
CSV_HEADER: Final = (
    *("url", "namespace", "connection", "owner", "schedule", "state", "tables"),
    *("vanished", "folders", "scanned_at", "error"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeScans:
    """What the scans of a lake found.

    Attributes:
        state: `new`, `scanned` or `failed`, as the newest scan ended.
        num_tables: Registered tables that are there.
        num_vanished: Registered tables that the newest scan did not find.
        num_folders: Folders that the newest scan listed.
        num_unreadable: Folders that it could not list.
        truncated: Whether it stopped early, because the lake is very deep or large.
        next_scan_at: The time of the next scan; null if it is scanned only on request.
        error: Why the newest scan failed.
        hint: What to do about that.
    """

    state: str
    num_tables: int
    num_vanished: int
    num_folders: int | None
    num_unreadable: int
    truncated: bool
    scanned_at: datetime | None
    next_scan_at: datetime | None
    error: str | None
    hint: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeResource:
    """A lake as every machine form names it.

    Attributes:
        namespace: The namespace of its new tables; null for the path below the lake.
        connection: The storage connection that reaches it; null for the server's own
            credentials and for its disk.
        schedule: How often it is scanned; `never` means only on request.
    """

    id: UUID
    url: str
    namespace: str | None
    connection: str | None
    owner: str | None
    schedule: str
    scans: Spread[LakeScans]
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeRow:
    """A lake in the list, and on its page."""

    lake: OnPage[Lake]
    resource: Spread[LakeResource]

    @property
    def is_remote(self) -> bool:
        return is_remote(self.lake.url)

    @property
    def is_received(self) -> bool:
        return is_received(self.lake.url)

    @property
    def schedule(self) -> str:
        """How often it is scanned, in words that follow `scanned`."""
        return schedule_words(self.lake.scan_interval_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeList:
    """A page of the lakes."""

    rows: OnPage[list[LakeRow]]
    paged: OnPage[Paged]
    links: OnPage[PageLinks] = field(default_factory=PageLinks)

    @in_json
    def count(self) -> int:
        """How many lakes there are."""
        return self.paged.count

    @in_json
    def next(self) -> str | None:
        """Where the next page is."""
        return self.links.next

    @in_json
    def lakes(self) -> list[LakeRow]:
        """Those of this page."""
        return self.rows


@dataclass(frozen=True, slots=True, kw_only=True)
class VanishedTable:
    """A registered table that the newest scan did not find.

    Attributes:
        since: When a scan missed it first.
    """

    name: str
    since: datetime
    url: OnPage[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeScan:
    """The newest scan of a lake.

    Attributes:
        id: The id of its job.
        step: What the job does now, or did last.
        result: What the scan did; null before its end.
    """

    id: UUID
    state: str
    step: str
    result: ScanResult | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LakePage:
    """One lake, its newest scan, and the tables that are gone.

    Attributes:
        vanished: The first of the tables that are gone, by name.
    """

    row: Spread[LakeRow]
    vanished: list[VanishedTable]
    scan: LakeScan | None
    job: OnPage[Job | None]

    @property
    def scanned(self) -> ScanResult | None:
        return self.scan.result if self.scan else None


def lake_list(page: int) -> LakeList:
    """Return a page of the lakes; one beyond the last is the last."""
    place = paged(Lake.objects.count(), page)
    return LakeList(rows=_rows(_lakes()[place.rows]), paged=place)


def lake_page(lake: Lake) -> LakePage:
    """Return what is shown of a lake."""
    (row,) = _rows(_lakes().filter(id=lake.id))
    gone = lake.tables.filter(vanished_at__isnull=False)
    names = gone.only("namespace", "name", "vanished_at")
    job = newest_scan(lake)
    return LakePage(
        row=row,
        vanished=[
            VanishedTable(
                name=table.full_name,
                since=table.vanished_at,
                url=table.get_absolute_url(),
            )
            for table in names[:MOST_VANISHED]
            if table.vanished_at  # as the query has it
        ],
        scan=shaped(LakeScan, job, result=SCAN_ROOT.found(job)) if job else None,
        job=job,
    )


def lake_csv() -> Iterator[tuple[object, ...]]:
    """Yield the list as CSV."""
    yield CSV_HEADER
    for row in _rows(_lakes()):
        one, scans = row.resource, row.resource.scans
        yield (
            *(getattr(one, name) for name in CSV_HEADER[:5]),
            *(scans.state, scans.num_tables, scans.num_vanished),
            *(scans.num_folders, scans.scanned_at, scans.error),
        )


def _lakes() -> "QuerySet[Lake]":
    return Lake.objects.select_related("owner").order_by("url")


def _rows(lakes: "QuerySet[Lake]") -> list[LakeRow]:
    """Return rows by three queries, however many there are."""
    shown = list(lakes)
    tables = Table.objects.filter(lake__in=shown).order_by().values("lake_id")
    is_gone = Q(vanished_at__isnull=False)
    counted = tables.annotate(every=Count("id"), gone=Count("id", filter=is_gone))
    counts = {found["lake_id"]: found for found in counted}
    connections = list(StorageConnection.objects.only("name", "prefix"))
    rows = []
    for lake in shown:
        found = counts.get(lake.id, {"every": 0, "gone": 0})
        is_repeated = lake.scan_interval_s != ONLY_WHEN_ASKED_S
        resource = shaped(
            LakeResource,
            lake,
            connection=_connection_of(lake.url, connections),
            owner=lake.owner and lake.owner.username,
            schedule=schedule_name(lake.scan_interval_s),
            scans=shaped(
                LakeScans,
                lake,
                num_tables=found["every"] - found["gone"],
                num_vanished=found["gone"],
                truncated=lake.is_truncated,
                next_scan_at=lake.scan_due_at if is_repeated else None,
                hint=lake.error_hint or None,
            ),
        )
        rows.append(LakeRow(lake=lake, resource=resource))
    return rows


def _connection_of(url: str, connections: list[StorageConnection]) -> str | None:
    """Return the name of the connection with the longest prefix that holds a URL."""
    fits = [one for one in connections if is_remote(url) and holds(one.prefix, url)]
    return max(fits, key=lambda one: len(one.prefix)).name if fits else None
