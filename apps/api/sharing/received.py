"""What others share with us: profiles go in, and never come out."""

import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import Scope
from apps.accounts.permissions import signed_in
from apps.api.calls import Answer
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.jobs import Started, started
from apps.api.pages import page_endpoint
from apps.jobs.waiting import wait_a_glance
from apps.pages.actions import stamp_of
from apps.sharing import urls
from apps.sharing.shares.received.listing import (
    ProviderRow,
    ReceivedPage,
    provider_row,
)
from apps.sharing.shares.received.services import (
    add_provider,
    find_provider,
    remove_provider,
)
from apps.tables.catalogue.lakes.scan_job import request_scan


@dataclass(frozen=True, slots=True, kw_only=True)
class NewProvider:
    """The profile of somebody who shares with us.

    Attributes:
        name: What we call the provider, and the namespace of its tables.
        profile: What its profile file holds.
        replace: Whether a known provider gets this profile instead.
    """

    name: str
    profile: dict[str, Any]
    replace: bool = False


class ReceivedList(RestView):
    """The providers."""

    get = page_endpoint(
        urls.urlpatterns,
        "received-list",
        ReceivedPage,
        "List who shares with us, and which tables.",
        role=Role.ADMIN,
    )

    @endpoint(
        Role.ADMIN, body=NewProvider, answers={201: ProviderRow}, scope=Scope.SHARE
    )
    def post(self, request: HttpRequest, body: NewProvider) -> Answer:
        """Try a profile, keep it sealed, and look for its tables."""
        stamp, user = stamp_of(request), signed_in(request)
        provider = add_provider(
            name=body.name,
            profile=json.dumps(body.profile),
            replace=body.replace,
            owner=user,
            stamp=stamp,
        )
        wait_a_glance(
            request_scan(root=provider.prefix, now=stamp.at, requested_by=user)
        )
        there = reverse("api:received", args=[provider.name])
        return Answer(
            provider_row(provider, now=timezone.now()),
            HTTPStatus.CREATED,
            {"Location": there},
        )


class Received(RestView):
    """One provider."""

    @endpoint(Role.ADMIN, answers=ProviderRow)
    def get(self, name: str) -> object:
        """Tell how a provider answers, and which tables it shares."""
        return provider_row(find_provider(name), now=timezone.now())

    @endpoint(Role.ADMIN, answers={204: None}, scope=Scope.SHARE)
    def delete(self, request: HttpRequest, name: str) -> None:
        """Forget a provider, and take its tables out of the catalogue."""
        provider, stamp = find_provider(name), stamp_of(request)
        remove_provider(provider, stamp=stamp)


class ReceivedRefresh(RestView):
    """What a provider shares by now."""

    @endpoint(Role.ADMIN, answers={202: Started}, scope=Scope.SHARE)
    def post(self, request: HttpRequest, name: str) -> Answer:
        """Ask a provider again what it shares."""
        provider, user = find_provider(name), signed_in(request)
        job = request_scan(root=provider.prefix, now=timezone.now(), requested_by=user)
        return started(job)
