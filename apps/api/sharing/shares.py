"""Shares, their tables, and who may read them."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.models import Scope
from apps.api.calls import Answer
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.jobs import Started, started
from apps.pages.actions import stamp_of
from apps.sharing.access.grants.preparing import request_preparation
from apps.sharing.names import (
    find_recipient,
    find_share,
)
from apps.sharing.recipients import services as recipients
from apps.sharing.recipients.listing import (
    RecipientResource,
    recipient_resource,
    recipient_rows,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedPreparation:
    """What is done ahead for a share of which recipients see a part.

    Attributes:
        prove: Whether all that recipients get is read, too, and rows outside of the
            rules are counted.
    """

    prove: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """Who may read a share."""

    recipients: list[RecipientResource]


class Preparation(RestView):
    """What is rewritten of a share, of which recipients see a part."""

    @endpoint(
        Role.ADMIN, body=WantedPreparation, answers={202: Started}, scope=Scope.SHARE
    )
    def post(self, name: str, body: WantedPreparation) -> Answer:
        """Rewrite what is shared of files in part, as far as it is not there yet."""
        now = timezone.now()
        return started(
            request_preparation(find_share(name), proves=body.prove, now=now)
        )


class GrantList(RestView):
    """Who may read a share."""

    @endpoint(Role.ADMIN, answers=Readers)
    def get(self, name: str) -> object:
        """List the recipients that may read a share."""
        found = recipient_rows(find_share(name).recipients.all(), now=timezone.now())
        return Readers(recipients=[row.resource for row in found])


class Grant(RestView):
    """That a recipient may read a share."""

    @endpoint(Role.ADMIN, answers=RecipientResource, scope=Scope.SHARE)
    def put(self, request: HttpRequest, name: str, recipient: str) -> object:
        """Let a recipient read a share, from its next request on."""
        share, reader = find_share(name), find_recipient(recipient)
        stamp = stamp_of(request)
        recipients.grant(share, reader, stamp=stamp)
        return recipient_resource(reader, now=stamp.at)

    @endpoint(Role.ADMIN, answers={204: None}, scope=Scope.SHARE)
    def delete(self, request: HttpRequest, name: str, recipient: str) -> None:
        """Take a share from a recipient, from its next request on."""
        share, reader = find_share(name), find_recipient(recipient)
        stamp = stamp_of(request)
        recipients.ungrant(share, reader, stamp=stamp)
