"""What recipients are to be told in time, and the record."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.models import Scope
from apps.accounts.permissions import signed_in
from apps.api.calls import Answer
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.jobs import Started, started
from apps.api.pages import list_of, page_endpoint
from apps.sharing import urls
from apps.sharing.activity.views import ACTIVITY
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
