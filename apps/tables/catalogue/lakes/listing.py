"""The lakes that there are, and what is shown of one."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from django.db.models import Count, Q, QuerySet

from apps.jobs.models import Job
from apps.pages.lists.paging import Paged, PageLinks, paged
from apps.pages.page_json import OnPage, in_json
from apps.tables.catalogue.lakes.scan_job import SCAN_ROOT, newest_scan
from apps.tables.catalogue.scanning import ScanResult
from apps.tables.models import Lake, StorageConnection, Table
from apps.tables.models.schedules import (
    ONLY_WHEN_ASKED_S,
    schedule_name,
    schedule_words,
)
from apps.tables.storage.locations import is_remote
from apps.tables.storage.url_prefixes import holds

MOST_VANISHED: Final = 100  # names on a page
CSV_HEADER: Final = (
    *("url", "namespace", "connection", "owner", "schedule", "state", "tables"),
    *("vanished", "folders", "scanned_at", "error"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeRow:
    """A lake, with what is known of it from elsewhere.

    Attributes:
        connection: Name of the storage connection that reaches it; "" is what the
            server finds by itself.
    """

    lake: OnPage[Lake]
    connection: str
    num_tables: int
    num_vanished: int

    @property
    def is_remote(self) -> bool:
        return is_remote(self.lake.url)

    @property
    def schedule(self) -> str:
        """How often it is scanned, in words that follow `scanned`."""
        return schedule_words(self.lake.scan_interval_s)

    @property
    def is_repeated(self) -> bool:
        return self.lake.scan_interval_s != ONLY_WHEN_ASKED_S

    def describe(self) -> dict[str, Any]:
        """Return the row as JSON."""
        lake = self.lake
        return {
            "id": lake.id,
            "url": lake.url,
            "namespace": lake.namespace or None,
            "connection": self.connection or None,
            "owner": lake.owner.username if lake.owner else None,
            "schedule": schedule_name(lake.scan_interval_s),
            "state": lake.state,
            "num_tables": self.num_tables,
            "num_vanished": self.num_vanished,
            "num_folders": lake.num_folders,
            "num_unreadable": lake.num_unreadable,
            "truncated": lake.is_truncated,
            "scanned_at": lake.scanned_at,
            "next_scan_at": lake.scan_due_at if self.is_repeated else None,
            "error": lake.error or None,
            "hint": lake.error_hint or None,
            "created_at": lake.created_at,
        }


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
class LakePage:
    """One lake, its newest scan, and the tables that are gone.

    Attributes:
        job: The newest job that scans it, or has scanned it.
        vanished: The first of the tables that are gone, by name.
    """

    row: OnPage[LakeRow]
    job: OnPage[Job | None]
    vanished: OnPage[list[Table]]

    @property
    def lake(self) -> Lake:
        return self.row.lake

    @property
    def scanned(self) -> ScanResult | None:
        """What the newest scan did; None before its end."""
        return SCAN_ROOT.found(self.job)

    def describe(self) -> dict[str, Any]:
        """Return the page as JSON."""
        job = self.job
        return self.row.describe() | {
            "vanished": [
                {"name": table.full_name, "since": table.vanished_at}
                for table in self.vanished
            ],
            "scan": {
                "id": job.id,
                "state": job.state,
                "step": job.step,
                "result": job.result,
                "error": job.error or None,
            }
            if job
            else None,
        }


def lake_list(page: int) -> LakeList:
    """Return a page of the lakes; one beyond the last is the last."""
    place = paged(Lake.objects.count(), page)
    return LakeList(rows=_rows(_lakes()[place.rows]), paged=place)


def lake_page(lake: Lake) -> LakePage:
    """Return what is shown of a lake."""
    (row,) = _rows(_lakes().filter(id=lake.id))
    gone = lake.tables.filter(vanished_at__isnull=False)
    names = gone.only("namespace", "name", "vanished_at")
    return LakePage(
        row=row, job=newest_scan(lake), vanished=list(names[:MOST_VANISHED])
    )


def lake_csv() -> Iterator[tuple[object, ...]]:
    """Yield the list as CSV."""
    yield CSV_HEADER
    for row in _rows(_lakes()):
        facts = row.describe()
        yield (
            *(facts[name] for name in CSV_HEADER[:6]),
            *(row.num_tables, row.num_vanished),
            *(row.lake.num_folders, row.lake.scanned_at, row.lake.error or None),
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
        rows.append(
            LakeRow(
                lake=lake,
                connection=_connection_of(lake.url, connections),
                num_tables=found["every"] - found["gone"],
                num_vanished=found["gone"],
            )
        )
    return rows


def _connection_of(url: str, connections: list[StorageConnection]) -> str:
    """Return the name of the connection with the longest prefix that holds a URL."""
    fits = [one for one in connections if is_remote(url) and holds(one.prefix, url)]
    return max(fits, key=lambda one: len(one.prefix)).name if fits else ""
