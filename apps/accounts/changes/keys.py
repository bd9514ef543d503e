"""What users and administrators change of API keys: make and revoke them."""

from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from django.shortcuts import resolve_url
from django.utils import timezone

from apps.accounts import selectors, services
from apps.accounts.errors import APIKeyNotFoundError
from apps.accounts.models import APIKey, Scope, User, usual_scopes
from apps.accounts.selectors import KeyResource
from apps.pages.actions import Stamp
from apps.pages.changes.change import (
    ADMIN,
    VIEWER,
    Call,
    Change,
    Nothing,
    Page,
    Subject,
    Verb,
)
from apps.pages.changes.parameters import Line, parameter
from apps.pages.changes.read import Read, reads
from apps.pages.page_json import Spread
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.pages.request.spans import parse_end

OWN: Final = "me/keys"
OF_USER: Final = "users/<str:name>/keys"
FOR: Final = Line(label="What the key is for", most=100, is_needed=True, name="name")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key to be made.

    Attributes:
        label: What the key is for.
        scopes: The scopes of the key, within the role of its user: `read`, `write`,
            `share`, `admin`. If left out, all but `admin`; an empty list means only
            `read`.
        expires: When the key expires: `90d`, `24h`, or its last day; empty for never.
    """

    label: str = parameter("", None, line=FOR)
    scopes: list[str] | Unchanged = parameter(
        UNCHANGED,
        "--scope",
        action="append",
        choices=Scope.values,
        line=Line(label="Scopes", is_boxes=True, choices=lambda: Scope.values),
        help="a scope of the key, within the role of its user; repeatable "
        f"(default: {', '.join(usual_scopes())})",
    )
    expires: str = parameter(
        "",
        "--expires",
        metavar="SPAN",
        line=Line(label="Expires after", most=20, codes=("span-invalid",)),
        help="when the key expires: 90d, 24h or a date; default: never",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKeyAtTerminal(NewKey):
    """A key to be made by a command, which has a label for it."""

    label: str = parameter("command line", "--label", help="what the key is for")


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeKey:
    """A new key.

    Attributes:
        key: The key to send. It is shown only once.
    """

    resource: Spread[KeyResource]
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeKeyAtTerminal(MadeKey):
    """A new key as the command answers it.

    Attributes:
        name: The user, as of each other `user` command.
    """

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokedKey:
    """A key that is refused from now on."""

    prefix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysOfUser:
    """The keys of a user."""

    keys: list[KeyResource]


def oneself(caller: User) -> User:
    """Return the user who asks."""
    return caller


def own_key(caller: User, key_id: UUID) -> APIKey:
    """Return a key of the user who asks.

    Raises:
        APIKeyNotFoundError: If it is the key of another user, or of none.
    """
    key = APIKey.objects.select_related("user").filter(user=caller, id=key_id).first()
    if key is None:
        raise APIKeyNotFoundError(name=caller.username)
    return key


def key_of_user(name: str, key_id: UUID) -> APIKey:
    """Return a key of a user."""
    return own_key(selectors.get_user(name), key_id)


def make_key(user: User, new: NewKey, stamp: Stamp) -> MadeKey:
    """Make a key, which never allows more than the role of its user."""
    issued = services.issue_api_key(
        user=user,
        name=new.label,
        scopes=() if isinstance(new.scopes, Unchanged) else new.scopes or [Scope.READ],
        expires_at=parse_end(new.expires, now=stamp.at),
        stamp=stamp,
    )
    shown = selectors.key_resource(issued.key, now=stamp.at)
    if isinstance(new, NewKeyAtTerminal):
        return MadeKeyAtTerminal(resource=shown, key=issued.secret, name=user.username)
    return MadeKey(resource=shown, key=issued.secret)


def revoke_key(key: APIKey, _: Nothing, stamp: Stamp) -> RevokedKey:
    """Refuse a key from the next request on."""
    services.revoke_api_key(key=key, stamp=stamp)
    return RevokedKey(prefix=key.prefix)


def keys_of_user(name: str) -> KeysOfUser:
    """Return the keys of a user, the newest first."""
    now = timezone.now()
    keys = selectors.api_keys(selectors.get_user(name))
    return KeysOfUser(keys=[selectors.key_resource(key, now=now) for key in keys])


def _account(_: object) -> str:
    return resolve_url("accounts:me")


ONESELF: Final = Subject(noun="me", role=VIEWER, scope="admin", find=oneself)
OWN_KEYS: Final = Subject(noun="me", role=VIEWER, scope="admin", find=own_key)
USER: Final = Subject(noun="user", role=ADMIN, scope="admin", find=selectors.get_user)
KEY_OF_USER: Final = Subject(noun="user", role=ADMIN, scope="admin", find=key_of_user)
KEY: Final = Change(
    of=USER,
    name="key",
    help="Make an API key; it is shown only once.",
    more="It never allows more than the role of its user.",
    parameters=NewKey,
    do=make_key,
    result=MadeKey,
    says=lambda one: one.key,
    kept=lambda one: {"user": one.resource.user, "key_id": str(one.resource.id)},
    record=("key.issue",),
    verb=Verb(at_terminal=NewKeyAtTerminal),
    call=Call("POST", OF_USER, view="KeyList"),
)
REVOKE: Final = Change(
    of=KEY_OF_USER,
    name="revoke-key",
    help="Revoke an API key, from the next request on.",
    parameters=Nothing,
    do=revoke_key,
    result=RevokedKey,
    says=lambda one: f"The key {one.prefix}… is revoked.",
    record=("key.revoke",),
    call=Call("DELETE", f"{OF_USER}/<uuid:key_id>", view="Key"),
)
OWN_KEY: Final = replace(
    KEY,
    of=ONESELF,
    help="Make an API key for yourself; it is shown only once.",
    more="",
    verb=None,
    call=Call("POST", OWN, view="OwnKeyList"),
    page=Page(OWN, back=_account, name="create-key", needs_session=True),
)
REVOKE_OWN: Final = replace(
    REVOKE,
    of=OWN_KEYS,
    help="Revoke one of your API keys, from the next request on.",
    call=Call("DELETE", f"{OWN}/<uuid:key_id>", view="OwnKey"),
    page=Page(
        f"{OWN}/<uuid:key_id>/revoke",
        back=_account,
        name="revoke-key",
        needs_session=True,
    ),
)
reads.register(
    Read(
        route=OF_USER,
        view="KeyList",
        finds=keys_of_user,
        shows=KeysOfUser,
        help="List the API keys of a user, the newest first, without their secrets.",
        role=ADMIN,
        scope="admin",
    )
)
