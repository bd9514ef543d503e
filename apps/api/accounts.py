"""Accounts of people and their API keys: one's own, and for administrators all.

A key that was stolen must not become a password or more keys, so what is here asks for
the scope `admin`, which no key has unasked.
"""

from dataclasses import dataclass, field
from http import HTTPStatus
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone

from apps.accounts import selectors, services, urls
from apps.accounts.errors import APIKeyNotFoundError
from apps.accounts.models import APIKey, Scope, User
from apps.accounts.permissions import signed_in
from apps.accounts.selectors import (
    AccountResource,
    KeyResource,
)
from apps.api.calls import Answer
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.pages import page_endpoint
from apps.api.shapes import changed_to
from apps.pages.actions import stamp_of
from apps.pages.page_json import Spread
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.pages.request.spans import parse_end


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key that is to be made.

    Attributes:
        label: What it is for.
        scopes: What it may do, of what its user may: `read`, `write`, `share`,
            `admin`; all but the last where none is named.
        expires: When it ends: `90d`, `24h`, or the last day; empty for never.
    """

    label: str = ""
    scopes: list[str] = field(default_factory=list)
    expires: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeKey:
    """A new key.

    Attributes:
        key: What a script sends; it is shown now and never again.
    """

    resource: Spread[KeyResource]
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysOfUser:
    """The keys of somebody."""

    keys: list[KeyResource]


@dataclass(frozen=True, slots=True, kw_only=True)
class Appearance:
    """How pages look; what is left out stays.

    Attributes:
        theme: Light, dark, or as the browser has it.
        time_zone: Of the times on pages, such as `Europe/Berlin`.
    """

    theme: str | Unchanged = changed_to(map(str.lower, User.Theme.values))  # noqa: RUF009 (a field)
    time_zone: str | Unchanged = UNCHANGED


class Me(RestView):
    """Who calls."""

    get = page_endpoint(
        urls.urlpatterns,
        "me",
        AccountResource,
        "Tell whose key it is that calls, and what their keys may do.",
    )

    @endpoint(Role.VIEWER, body=Appearance, answers=AccountResource)
    def patch(self, request: HttpRequest, body: Appearance) -> object:
        """Change how pages look for who calls."""
        user, stamp = signed_in(request), stamp_of(request)
        changed = services.set_appearance(
            user=user,
            theme=body.theme,
            time_zone=body.time_zone,
            stamp=stamp,
        )
        return selectors.account_resource(changed, now=stamp.at)


class OwnKeyList(RestView):
    """The keys of who calls, which `me` lists."""

    @endpoint(Role.VIEWER, body=NewKey, answers={201: MadeKey}, scope=Scope.ADMIN)
    def post(self, request: HttpRequest, body: NewKey) -> Answer:
        """Make a key of one's own, which is answered once."""
        return _made_key(request, signed_in(request), body)


class OwnKey(RestView):
    """One key of who calls."""

    @endpoint(Role.VIEWER, answers={204: None}, scope=Scope.ADMIN)
    def delete(self, request: HttpRequest, key_id: UUID) -> None:
        """Revoke a key of one's own, from the next request on."""
        _revoke(request, signed_in(request), key_id)


class KeyList(RestView):
    """The keys of an account."""

    @endpoint(Role.ADMIN, answers=KeysOfUser, scope=Scope.ADMIN)
    def get(self, name: str) -> object:
        """List the keys of somebody, the newest first, by what may be shown."""
        now = timezone.now()
        keys = selectors.api_keys(selectors.get_user(name))
        return KeysOfUser(keys=[selectors.key_resource(key, now=now) for key in keys])

    @endpoint(Role.ADMIN, body=NewKey, answers={201: MadeKey}, scope=Scope.ADMIN)
    def post(self, request: HttpRequest, name: str, body: NewKey) -> Answer:
        """Make a key, which is answered once; it never opens more than its user may."""
        return _made_key(request, selectors.get_user(name), body)


class Key(RestView):
    """One key of an account."""

    @endpoint(Role.ADMIN, answers={204: None}, scope=Scope.ADMIN)
    def delete(self, request: HttpRequest, name: str, key_id: UUID) -> None:
        """Revoke a key, from the next request on."""
        _revoke(request, selectors.get_user(name), key_id)


def _made_key(request: HttpRequest, user: User, body: NewKey) -> Answer:
    stamp = stamp_of(request)
    issued = services.issue_api_key(
        user=user,
        name=body.label,
        scopes=body.scopes,
        expires_at=parse_end(body.expires, now=stamp.at),
        stamp=stamp,
    )
    shown = selectors.key_resource(issued.key, now=stamp.at)
    return Answer(
        MadeKey(resource=shown, key=issued.secret),
        HTTPStatus.CREATED,
        about={"user": shown.user, "key_id": str(shown.id)},
    )


def _revoke(request: HttpRequest, user: User, key_id: UUID) -> None:
    key = APIKey.objects.select_related("user").filter(user=user, id=key_id).first()
    if key is None:
        raise APIKeyNotFoundError(name=user.username)
    services.revoke_api_key(key=key, stamp=stamp_of(request))
