"""Recipients, and the shares that they may read."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.models import Scope
from apps.accounts.permissions import signed_in
from apps.api.calls import Answer
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.jobs import Started, started
from apps.api.pages import list_of, page_endpoint
from apps.api.sharing.tokens import link_answer
from apps.pages.actions import stamp_of
from apps.pages.page_json import Spread
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.sharing import urls
from apps.sharing.activity.ledger import Ledger
from apps.sharing.issuing.token_rows import TokenResource, token_row
from apps.sharing.names import find_recipient, find_share
from apps.sharing.recipients import services
from apps.sharing.recipients.detail import RecipientDetail
from apps.sharing.recipients.doctor.doctor import (
    Diagnosis,
    diagnose,
    request_examination,
)
from apps.sharing.recipients.doctor.views import ConnectionPage
from apps.sharing.recipients.listing import (
    RECIPIENTS,
    RecipientResource,
    recipient_resource,
)
from apps.sharing.recipients.rehearsals.nightly import request_rehearsal
from apps.sharing.recipients.rehearsals.views import RehearsalsPage
from apps.sharing.recipients.seen import SeenByRecipient
from apps.sharing.recipients.services import NewRecipient


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientChange:
    """What is to be changed of a recipient; what is left out stays, null removes it.

    Attributes:
        shares: Names of what it may read, and of nothing else.
        contact: A mail address.
        comment: A note for administrators.
        allowed_networks: Where it may come from; empty or null allows every address.
        properties: What conditions call recipient.<key>, each as key=value.
        soft_limit: What it is offered in a month before that is said, such as
            `3.5 TiB`; empty or null for no limit. `usage` tells how near it is.
        hard_limit: What it is offered in a month before reads are refused.
    """

    shares: list[str] | Unchanged | None = UNCHANGED
    contact: str | Unchanged | None = UNCHANGED
    comment: str | Unchanged | None = UNCHANGED
    allowed_networks: list[str] | Unchanged | None = UNCHANGED
    properties: list[str] | Unchanged | None = UNCHANGED
    soft_limit: str | Unchanged | None = UNCHANGED
    hard_limit: str | Unchanged | None = UNCHANGED


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

    get = page_endpoint(
        urls.urlpatterns,
        "recipient-list",
        list_of(RECIPIENTS),
        "List recipients.",
        role=Role.ADMIN,
    )

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


class Recipient(RestView):
    """One recipient."""

    get = page_endpoint(
        urls.urlpatterns,
        "recipient-detail",
        RecipientDetail,
        "Tell what a recipient may read, its tokens and what it did.",
        role=Role.ADMIN,
    )

    @endpoint(
        Role.ADMIN, body=RecipientChange, answers=RecipientResource, scope=Scope.SHARE
    )
    def patch(self, request: HttpRequest, name: str, body: RecipientChange) -> object:
        """Change what a recipient may read, and how and from where it is reached."""
        recipient, stamp = find_recipient(name), stamp_of(request)
        with transaction.atomic():
            services.update_recipient(
                recipient,
                contact=body.contact,
                comment=body.comment,
                allowed_networks=body.allowed_networks,
                properties=body.properties,
                stamp=stamp,
            )
            services.set_limits(
                recipient,
                soft=body.soft_limit,
                hard=body.hard_limit,
                stamp=stamp,
            )
            if not isinstance(body.shares, Unchanged):
                wanted = [find_share(share) for share in body.shares or ()]
                services.set_grants(recipient, wanted, stamp=stamp)
        return recipient_resource(recipient, now=stamp.at)

    @endpoint(Role.ADMIN, answers={204: None}, scope=Scope.SHARE)
    def delete(self, request: HttpRequest, name: str) -> None:
        """Delete a recipient with its grants and tokens, which end at once."""
        services.delete_recipient(find_recipient(name), stamp=stamp_of(request))


class RecipientUse(RestView):
    """What a recipient was offered."""

    get = page_endpoint(
        urls.urlpatterns,
        "recipient-usage",
        Ledger,
        "Tell what a recipient was offered, by table and month.",
        role=Role.ADMIN,
    )


class RecipientSeen(RestView):
    """What a recipient sees."""

    get = page_endpoint(
        urls.urlpatterns,
        "recipient-seen",
        SeenByRecipient,
        "Tell what a recipient lists and gets, with the answers of the server.",
        role=Role.ADMIN,
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
