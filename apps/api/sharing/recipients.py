"""Recipients, and the shares that they may read."""

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.models import Scope
from apps.accounts.permissions import signed_in
from apps.api.calls import Answer
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.jobs import Started, started
from apps.api.pages import page_endpoint
from apps.api.sharing.tokens import link_answer
from apps.pages.actions import stamp_of
from apps.pages.page_json import Spread
from apps.sharing import urls
from apps.sharing.issuing.token_rows import TokenResource, token_row
from apps.sharing.names import find_recipient
from apps.sharing.recipients import services
from apps.sharing.recipients.doctor.doctor import (
    Diagnosis,
    diagnose,
    request_examination,
)
from apps.sharing.recipients.doctor.views import ConnectionPage
from apps.sharing.recipients.listing import (
    RecipientResource,
    recipient_resource,
)
from apps.sharing.recipients.rehearsals.nightly import request_rehearsal
from apps.sharing.recipients.rehearsals.views import RehearsalsPage
from apps.sharing.recipients.services import NewRecipient


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitedRecipient:
    """A new recipient, and the link by which it fetches its profile file.

    Attributes:
        token: The token, which waits for its activation.
        activation_url: Opens the profile once; it is shown now and never again.
        activation_expires_at: When the link closes.
    """

    resource: Spread[RecipientResource]
    token: TokenResource
    activation_url: str
    activation_expires_at: datetime


class RecipientList(RestView):
    """The recipients."""

    @endpoint(
        Role.ADMIN,
        body=NewRecipient,
        answers={201: InvitedRecipient},
        scope=Scope.SHARE,
    )
    def post(self, request: HttpRequest, body: NewRecipient) -> Answer:
        """Make a recipient, and a link by which it fetches its profile file once."""
        stamp = stamp_of(request)
        made = services.invite(body, stamp=stamp)
        recipient = made.token.recipient
        return link_answer(
            made,
            lambda url, expires_at: InvitedRecipient(
                resource=recipient_resource(recipient, now=stamp.at),
                token=token_row(made.token, now=stamp.at).describe(),
                activation_url=url,
                activation_expires_at=expires_at,
            ),
        )


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
