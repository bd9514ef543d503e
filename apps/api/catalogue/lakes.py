"""Lakes: folders and buckets that are scanned for tables."""

from dataclasses import dataclass
from uuid import UUID

from django.http import HttpRequest

from apps.api.calls import Answer
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.jobs import started
from apps.api.pages import page_endpoint
from apps.api.shapes import changed_to
from apps.jobs.listing.resource import Started
from apps.pages.actions import stamp_of
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.tables import urls as pages
from apps.tables.catalogue.lakes.listing import LakeList as LakeListPage
from apps.tables.catalogue.lakes.listing import LakePage, lake_page
from apps.tables.catalogue.lakes.scan_job import request_scan
from apps.tables.catalogue.lakes.services import (
    LAKE_SCHEDULES,
    change_lake,
    get_lake,
    remove_lake,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeRule:
    """How the next tables of a lake are named, and how often it is scanned.

    What is left out stays.

    Attributes:
        namespace: Of every table; "" or null for the path below the lake.
        schedule: How often; null for `never`, which is only when asked.
    """

    namespace: str | Unchanged | None = UNCHANGED
    schedule: str | Unchanged | None = changed_to(LAKE_SCHEDULES, is_removable=True)  # noqa: RUF009 (a field)


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedScan(LakeRule):
    """Where tables are looked for; it is a lake from then on.

    What is left out stays, if it is a lake already.

    Attributes:
        url: A folder of the server, or a URL of an object store.
        namespace: Of every table; "" or null for the path below the lake.
        schedule: How often again; null for `never`, which is only when asked.
    """

    url: str


class TableScan(RestView):
    """Tables that are found."""

    @endpoint(Role.EDITOR, body=WantedScan, answers={202: Started})
    def post(self, request: HttpRequest, body: WantedScan) -> Answer:
        """Register every table below a folder or URL."""
        return started(
            request_scan(
                body.url,
                namespace=body.namespace,
                schedule=body.schedule,
                stamp=stamp_of(request),
            )
        )


class LakeScan(RestView):
    """A lake, once more."""

    @endpoint(Role.EDITOR, answers={202: Started})
    def post(self, request: HttpRequest, lake_id: UUID) -> Answer:
        """Scan a lake again."""
        return started(request_scan(get_lake(lake_id).url, stamp=stamp_of(request)))


class LakeList(RestView):
    """The lakes."""

    get = page_endpoint(
        pages.urlpatterns, "lake-list", LakeListPage, "List lakes.", role=Role.EDITOR
    )


class Lake(RestView):
    """One lake."""

    get = page_endpoint(
        pages.urlpatterns,
        "lake-detail",
        LakePage,
        "Get the settings and the last scan of a lake.",
        role=Role.EDITOR,
    )

    @endpoint(Role.EDITOR, body=LakeRule, answers=LakePage)
    def patch(self, request: HttpRequest, lake_id: UUID, body: LakeRule) -> LakePage:
        """Change the namespace and the schedule of a lake."""
        changed = change_lake(
            get_lake(lake_id),
            namespace=body.namespace,
            schedule=body.schedule,
            stamp=stamp_of(request),
        )
        return lake_page(changed)

    @endpoint(Role.EDITOR, answers={204: None})
    def delete(self, request: HttpRequest, lake_id: UUID) -> None:
        """Remove a lake; its tables stay registered."""
        remove_lake(get_lake(lake_id), stamp=stamp_of(request))
