"""What editors change of lakes: scan one, change how it is scanned, remove it."""

from dataclasses import MISSING, dataclass
from typing import Final

from django.shortcuts import resolve_url

from apps.jobs.listing.resource import Started
from apps.jobs.models import Job
from apps.jobs.waiting import started
from apps.pages.actions import Stamp
from apps.pages.changes.change import EDITOR, Call, Change, Nothing, Page, Subject
from apps.pages.changes.parameters import Line, parameter
from apps.pages.changes.read import Read, reads
from apps.tables.catalogue.lakes.listing import LakeList, LakePage, lake_page
from apps.tables.catalogue.lakes.scan_job import request_scan
from apps.tables.catalogue.lakes.services import (
    LakeRule,
    change_lake,
    get_lake,
    remove_lake,
)
from apps.tables.errors import LakeOfProviderError
from apps.tables.models import Lake
from apps.tables.storage.locations import MAX_LENGTH
from apps.tables.storage.received import is_received, provider_name

ROUTE: Final = "lakes/<uuid:lake_id>"
IN_URL: Final = (
    "bucket-not-found",
    "location-invalid",
    "location-not-allowed",
    "location-unsupported",
    "scan-root-invalid",
    "storage-prefix-taken",
)
"""Errors of a URL or folder, beside whose field they are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLake(LakeRule):
    """Where tables are looked for; it is a lake from then on.

    What is left out stays, if it is a lake already.

    Attributes:
        url: A folder on the server, or a URL of an object store.
        namespace: The namespace of every table; empty or null for the path below the
            lake.
        schedule: How often the lake is scanned; null for `never`, which scans only on
            request.
    """

    url: str = parameter(
        MISSING,
        metavar="root",
        line=Line(
            label="Folder or URL",
            most=MAX_LENGTH,
            wrong="Give a folder or URL to scan.",
            is_needed=True,
            codes=IN_URL,
            name="root",
        ),
        help="a folder, or a URL such as s3://bucket/lake",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedLake:
    """A lake that is no longer scanned."""

    url: str
    removed: bool = True


def scan_new(_: None, new: NewLake, stamp: Stamp) -> Started:
    """Request a scan of a folder or URL, which is a lake from then on."""
    return started(request_scan(new.url, new, stamp=stamp))


def change(lake: Lake, new: LakeRule, stamp: Stamp) -> LakePage:
    """Change how the next tables are named, and how often they are looked for."""
    return lake_page(change_lake(lake, new, stamp=stamp))


def remove(lake: Lake, _: Nothing, stamp: Stamp) -> RemovedLake:
    """Scan a lake no longer.

    Raises:
        LakeOfProviderError: If a provider needs it.
    """
    if is_received(lake.url):
        raise LakeOfProviderError(name=provider_name(lake.url))
    remove_lake(lake, stamp=stamp)
    return RemovedLake(url=lake.url)


def root_of(scan: Started) -> str:
    """Return the URL of the lake that a job scans."""
    return str((scan.job.parameters or {})["root"])


def said_scanned(scan: Started) -> str:
    """Return a sentence on a scan that was requested just now."""
    if scan.job.state == Job.State.DONE:
        return f"{root_of(scan)} was scanned."
    return f"The scan of {root_of(scan)} has started."


def lake_of(scan: Started) -> Lake:
    """Return the lake that a job scans."""
    return Lake.objects.get(url=root_of(scan))


def _job_of(scan: Started) -> str:
    return resolve_url("api:job", scan.job.id)


NEW_LAKE: Final = Subject(noun="lake", role=EDITOR, scope="write", find=lambda: None)
LAKE: Final = Subject(noun="lake", role=EDITOR, scope="write", find=get_lake)
SCAN_NEW: Final = Change(
    of=NEW_LAKE,
    name="add",
    help="Register every table below a folder or URL.",
    parameters=NewLake,
    do=scan_new,
    is_atomic=False,
    result=Started,
    says=said_scanned,
    record=("lake.add", "lake.schedule", "lake.set_namespace"),
    call=Call("POST", "tables/scan", view="TableScan", status=202, location=_job_of),
    page=Page(
        "tables/scan",
        back=lambda _: resolve_url("tables:lake-list"),
        then=lake_of,
        name="table-scan",
    ),
)
SCAN: Final = Change(
    of=LAKE,
    name="scan",
    help="Scan a lake again.",
    parameters=Nothing,
    do=lambda lake, _, stamp: started(request_scan(lake.url, stamp=stamp)),
    is_atomic=False,
    result=Started,
    says=said_scanned,
    record=("lake.scan", "table.register"),
    call=Call("POST", f"{ROUTE}/scan", view="LakeScan", status=202, location=_job_of),
    page=Page(f"tables/{ROUTE}/scan", back=resolve_url),
)
UPDATE: Final = Change(
    of=LAKE,
    name="update",
    help="Change the namespace and the schedule of a lake.",
    parameters=LakeRule,
    do=change,
    result=LakePage,
    says=lambda _: "Saved.",
    record=("lake.schedule", "lake.set_namespace"),
    call=Call("PATCH", ROUTE, view="Lake"),
    page=Page(f"tables/{ROUTE}", back=resolve_url, name="lake-detail"),
)
REMOVE: Final = Change(
    of=LAKE,
    name="remove",
    help="Remove a lake; its tables stay registered.",
    parameters=Nothing,
    do=remove,
    result=RemovedLake,
    says=lambda one: f"{one.url} is no longer scanned; its tables stay.",
    record=("lake.remove",),
    call=Call("DELETE", ROUTE, view="Lake"),
    page=Page(f"tables/{ROUTE}/remove", back=lambda _: resolve_url("tables:lake-list")),
)
reads.register(
    Read(
        route="lakes",
        view="LakeList",
        page="tables:lake-list",
        shows=LakeList,
        help="List lakes.",
        role=EDITOR,
    ),
    Read(
        route=ROUTE,
        view="Lake",
        page="tables:lake-detail",
        shows=LakePage,
        help="Return the settings and the last scan of a lake.",
        role=EDITOR,
    ),
)
