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
        "List what recipients asked and what people changed, the newest first.",
        role=Role.ADMIN,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminders:
    """What is to be told, the newest first."""

    reminders: list[Reminder]


class ReminderList(RestView):
    """The reminders."""

    @endpoint(Role.ADMIN, answers=Reminders)
    def get(self) -> object:
        """List what recipients are to be told: ends of tokens, schemas, limits."""
        return Reminders(reminders=reminders(timezone.now()))

    @endpoint(Role.ADMIN, answers={202: Started}, scope=Scope.SHARE)
    def post(self, request: HttpRequest) -> Answer:
        """Send those that were not sent yet: by mail, and to the webhook."""
        user, now = signed_in(request), timezone.now()
        return started(request_reminders(now=now, requested_by=user))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientError:
    """What a recipient's client wrote.

    Attributes:
        error: A line or a trace; without one the connection is examined. It is not
            kept.
    """

    error: str | None = None


class Connection(RestView):
    """The way from a recipient's client to its rows."""

    get = page_endpoint(
        urls.urlpatterns,
        "recipient-doctor",
        ConnectionPage,
        "Tell what the last examination of a recipient's connection found.",
        role=Role.ADMIN,
    )

    @endpoint(
        Role.ADMIN,
        body=ClientError,
        answers={200: Diagnosis, 202: Started},
        scope=Scope.SHARE,
    )
    def post(self, request: HttpRequest, name: str, body: ClientError) -> object:
        """Examine a recipient's connection, or tell what an error of its client means.

        An examination is a job.
        """
        recipient, now = find_recipient(name), timezone.now()
        if body.error is None:
            user = signed_in(request)
            return started(request_examination(recipient, requested_by=user, now=now))
        return diagnose(recipient, body.error, now=now)


class Rehearsal(RestView):
    """What clients read in the place of a recipient."""

    get = page_endpoint(
        urls.urlpatterns,
        "recipient-rehearsals",
        RehearsalsPage,
        "Tell how each client last read each table of a recipient.",
        role=Role.ADMIN,
    )

    @endpoint(Role.ADMIN, answers={202: Started}, scope=Scope.SHARE)
    def post(self, request: HttpRequest, name: str) -> Answer:
        """Let the clients that are installed read all that a recipient may read.

        The job's result tells how each client read each table.
        """
        recipient, now = find_recipient(name), timezone.now()
        job = request_rehearsal(recipient, requested_by=signed_in(request), now=now)
        return started(job)
