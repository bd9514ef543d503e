"""The tables of the catalogue: listed, registered, changed, removed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.permissions import signed_in
from apps.api.calls import Answer
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.jobs import started
from apps.explorer.version.page import check_job
from apps.jobs.listing.resource import Started
from apps.jobs.models import Job
from apps.jobs.waiting import wait_for
from apps.pages.actions import stamp_of
from apps.tables.catalogue.checks import request_check
from apps.tables.catalogue.names import parse_table_name
from apps.tables.catalogue.registration import (
    check_name_free,
    register_table,
)
from apps.tables.catalogue.samples import request_samples
from apps.tables.head.finding import get_table
from apps.tables.head.shapes import TableResource, table_resource
from apps.tables.index.refresh import refresh_table
from apps.tables.storage.connections import check_connection
from apps.tables.storage.locations import parse_location
from apps.tables.work.check_files import request_file_check


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTable:
    """A table that is to be registered.

    Attributes:
        name: `table`, or `namespace.table`.
        location: A folder of the server, or a URL of an object store.
        description: Its description in the catalog.
        restricted: Whether it is hidden from viewers.
        connection: Name of the storage connection that it is to be read through; null
            is the one that holds the location, if there is one.
    """

    name: str
    location: str
    description: str = ""
    restricted: bool = False
    connection: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedCheck:
    """What is looked at before it is registered.

    Attributes:
        location: A folder of the server, or a URL of an object store.
    """

    location: str


class TableList(RestView):
    """The tables."""

    @endpoint(Role.EDITOR, body=NewTable, answers={201: TableResource, 202: Started})
    def post(self, request: HttpRequest, body: NewTable) -> Answer:
        """Register a table.

        A worker checks the location first. If that takes long, the answer is 202 with
        the job: repeat the call when it has ended.
        """
        user, name = signed_in(request), parse_table_name(body.name)
        location = parse_location(body.location)
        check_name_free(name)
        if body.connection is not None:
            check_connection(location, body.connection)
        job = request_check(location=location, now=timezone.now(), requested_by=user)
        wait_for(job)
        check_job(job)
        if job.state != Job.State.DONE:
            return started(job)
        table = register_table(
            name=name,
            location=location,
            description=body.description,
            restricted=body.restricted,
            created_by=user,
            stamp=stamp_of(request),
        )
        there = f"{request.path}/{table.namespace}/{table.name}"
        return Answer(table_resource(table), 201, {"Location": there})


class TableCheck(RestView):
    """What is at a location."""

    @endpoint(Role.EDITOR, body=WantedCheck, answers={202: Started})
    def post(self, request: HttpRequest, body: WantedCheck) -> Answer:
        """Check whether there is a table at a location; see the job's result."""
        location, user = parse_location(body.location), signed_in(request)
        now = timezone.now()
        return started(request_check(location=location, now=now, requested_by=user))


class Samples(RestView):
    """The sample tables."""

    @endpoint(Role.EDITOR, answers={202: Started})
    def post(self, request: HttpRequest) -> Answer:
        """Create and register the sample tables that are missing."""
        now, user = timezone.now(), signed_in(request)
        return started(request_samples(now=now, requested_by=user))


class TableRefresh(RestView):
    """The index of a table."""

    @endpoint(Role.VIEWER, answers={202: Started})
    def post(self, request: HttpRequest, namespace: str, name: str) -> Answer:
        """Index a table again."""
        user = signed_in(request)
        table = get_table(user, namespace, name)
        return started(refresh_table(table, now=timezone.now(), requested_by=user))


class TableFileCheck(RestView):
    """Which data files of a table are there."""

    @endpoint(Role.VIEWER, answers={202: Started})
    def post(self, request: HttpRequest, namespace: str, name: str) -> Answer:
        """Verify which data files of all versions still exist."""
        user = signed_in(request)
        table = get_table(user, namespace, name)
        return started(request_file_check(table, now=timezone.now(), requested_by=user))


BESIDE_READS: Final[Mapping[str, type[RestView]]] = {
    "tables": TableList,
}
"""By the routes of reads, the views with what else is done there."""
