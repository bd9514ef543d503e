"""The jobs of recipients: reminders, examinations, rehearsals; and the record."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.models import Scope
from apps.accounts.permissions import signed_in
from apps.api.calls import Answer
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.jobs import started
from apps.api.pages import list_of, page_endpoint
from apps.jobs.listing.resource import Started
from apps.sharing import urls
from apps.sharing.activity.views import ACTIVITY
from apps.sharing.names import find_recipient
from apps.sharing.recipients.doctor.doctor import (
    Diagnosis,
    diagnose,
    request_examination,
)
from apps.sharing.recipients.doctor.views import ConnectionPage
from apps.sharing.recipients.rehearsals.nightly import request_rehearsal
from apps.sharing.recipients.rehearsals.views import RehearsalsPage
from apps.sharing.recipients.reminders import Reminder, reminders
from apps.sharing.recipients.telling import request_reminders


class Activity(RestView):
    """The record."""

    get = page_endpoint(
        urls.urlpatterns,
        "activity-list",
        list_of(ACTIVITY),
        "List the requests of recipients and the changes by users, the newest first.",
        role=Role.ADMIN,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminders:
    """The reminders, the newest first."""

    reminders: list[Reminder]


class ReminderList(RestView):
    """The reminders."""

    @endpoint(Role.ADMIN, answers=Reminders)
    def get(self) -> object:
        """List reminders: expiring tokens, changed schemas and reached limits."""
        return Reminders(reminders=reminders(timezone.now()))

    @endpoint(Role.ADMIN, answers={202: Started}, scope=Scope.SHARE)
    def post(self, request: HttpRequest) -> Answer:
        """Send the reminders that were not sent yet, by mail and to the webhook."""
        user, now = signed_in(request), timezone.now()
        return started(request_reminders(now=now, requested_by=user))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientError:
    """An error of a recipient's client.

    Attributes:
        error: An error message or traceback, which is not stored. Without it, the
            connection is examined.
    """

    error: str | None = None


class Connection(RestView):
    """The connection of a recipient's client."""

    get = page_endpoint(
        urls.urlpatterns,
        "recipient-doctor",
        ConnectionPage,
        "Get the last examination of a recipient's connection.",
        role=Role.ADMIN,
    )

    @endpoint(
        Role.ADMIN,
        body=ClientError,
        answers={200: Diagnosis, 202: Started},
        scope=Scope.SHARE,
    )
    def post(self, request: HttpRequest, name: str, body: ClientError) -> object:
        """Examine a recipient's connection, or explain an error of its client.

        The examination is a job.
        """
        recipient, now = find_recipient(name), timezone.now()
        if body.error is None:
            user = signed_in(request)
            return started(request_examination(recipient, requested_by=user, now=now))
        return diagnose(recipient, body.error, now=now)


class Rehearsal(RestView):
    """The reading of shared tables with real clients, as a rehearsal."""

    get = page_endpoint(
        urls.urlpatterns,
        "recipient-rehearsals",
        RehearsalsPage,
        "Get the last rehearsal: the result of each client for each table.",
        role=Role.ADMIN,
    )

    @endpoint(Role.ADMIN, answers={202: Started}, scope=Scope.SHARE)
    def post(self, request: HttpRequest, name: str) -> Answer:
        """Read every table of a recipient with each client installed on the server.

        The result of the job lists each client and table.
        """
        recipient, now = find_recipient(name), timezone.now()
        job = request_rehearsal(recipient, requested_by=signed_in(request), now=now)
        return started(job)
