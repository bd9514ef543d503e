"""Jobs of shares and of received shares; they change nothing that a person set."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.models import Scope
from apps.api.calls import Answer
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.jobs import started
from apps.jobs.listing.resource import Started
from apps.pages.actions import stamp_of
from apps.sharing.access.grants.preparing import request_preparation
from apps.sharing.names import (
    find_share,
)
from apps.sharing.shares.received.services import find_provider
from apps.tables.catalogue.lakes.scan_job import request_scan


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedPreparation:
    """What is done ahead for a share of which recipients see a part.

    Attributes:
        prove: Whether to read what recipients get, and count the rows outside the
            condition.
    """

    prove: bool = False


class Preparation(RestView):
    """What is rewritten of a share, of which recipients see a part."""

    @endpoint(
        Role.ADMIN, body=WantedPreparation, answers={202: Started}, scope=Scope.SHARE
    )
    def post(self, name: str, body: WantedPreparation) -> Answer:
        """Prepare the files of partly shared tables; files that exist are kept."""
        now = timezone.now()
        return started(
            request_preparation(find_share(name), proves=body.prove, now=now)
        )


class ReceivedRefresh(RestView):
    """The tables that a provider shares by now."""

    @endpoint(Role.ADMIN, answers={202: Started}, scope=Scope.SHARE)
    def post(self, request: HttpRequest, name: str) -> Answer:
        """Ask a provider again what it shares."""
        prefix = find_provider(name).prefix
        return started(request_scan(prefix, stamp=stamp_of(request)))
