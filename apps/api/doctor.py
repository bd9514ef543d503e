"""The connection doctor of a recipient: one call with two kinds of answers.

It is no change: an error of a client is answered at once and recorded nowhere, and
without one the answer is a job.
"""

from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.models import Scope
from apps.accounts.permissions import signed_in
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.jobs import started
from apps.jobs.listing.resource import Started
from apps.sharing.names import find_recipient
from apps.sharing.recipients.doctor.doctor import (
    Diagnosis,
    diagnose,
    request_examination,
)

ROUTE: Final = "recipients/<str:name>/doctor"


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
