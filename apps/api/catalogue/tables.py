"""The tables of the catalogue: listed, registered, changed, removed."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.permissions import signed_in
from apps.api.calls import Answer
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.jobs import started
from apps.jobs.listing.resource import Started
from apps.tables.catalogue.adding.samples import request_samples
from apps.tables.catalogue.checks import request_check
from apps.tables.head.finding import get_table
from apps.tables.index.refresh import refresh_table
from apps.tables.storage.locations import parse_location
from apps.tables.work.check_files import request_file_check


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedCheck:
    """What is looked at before it is registered.

    Attributes:
        location: A folder of the server, or a URL of an object store.
    """

    location: str


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
