"""What pages and commands show of accounts."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django import forms
from django.db.models import Count, Max, Q, QuerySet

from apps.accounts import errors
from apps.accounts.lifetimes.local_accounts import may_have_keys
from apps.accounts.lifetimes.suspension import is_suspended
from apps.accounts.models import APIKey, User
from apps.accounts.tokens import KEY_MARK, sha256
from apps.operate.switches.state import require_not_revived
from apps.pages.actions import Stamp
from apps.pages.lists.paging import paged
from apps.pages.lists.sorting import Column, ordering
from apps.pages.page_json import shaped
from apps.pages.request.list_page import ListPage, ListQuery, PageOfRows
from apps.pages.request.lock_waits import write_note

LAST_USE_EVERY = timedelta(minutes=1)  # how exact a key's last use is kept
LAST_SEEN_EVERY = timedelta(minutes=5)  # likewise, of a user


@dataclass(frozen=True, slots=True, kw_only=True)
class UserResource:
    """A person's account as every machine form names it.

    Attributes:
        active: Whether the user may sign in.
        last_sign_in_at: The last time the user signed in or used a key.
        last_seen_at: The last time the user opened a page or used a key.
        num_keys: The number of API keys that work.
        email: The e-mail address; empty if there is none.
        email_confirmed: Whether the address is confirmed. Others get no mail but the
            link that confirms them.
    """

    name: str
    role: str
    active: bool
    created_at: datetime
    last_sign_in_at: datetime | None
    last_seen_at: datetime | None
    num_keys: int
    id: int
    email: str
    email_confirmed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyResource:
    """A key of the API by what may be shown of it, as every machine form names it.

    Attributes:
        label: What the key is for.
        user: The name of its user.
        prefix: The beginning of the key, which is not secret.
        scopes: The scopes of the key, within the role of its user.
        state: `active`, `expiring` (soon), `expired` or `revoked`.
        expires_at: The time when the key expires; null for never.
    """

    label: str
    user: str
    prefix: str
    scopes: list[str]
    state: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountResource(UserResource):
    """A person's own account, with how pages look and the keys."""

    theme: str
    time_zone: str
    keys: list[KeyResource]


def get_user(name: str) -> User:
    """Return the user of that name."""
    # No name has a NUL, and a database cannot be asked for one.
    user = None if "\0" in name else User.objects.named(name).first()
    if user is None:
        raise errors.UserNotFoundError(name=name)
    return user


def user_of(stamp: Stamp) -> User | None:
    """Return the user who makes a change; None for a command and the server."""
    user_id = stamp.actor.user_id
    return None if user_id is None else User.objects.get(id=user_id)


def user_resource(user: User, *, now: datetime) -> UserResource:
    """Return one account as machine forms name it."""
    return next(user_resources(User.objects.filter(id=user.id), now=now))


def account_resource(user: User, *, now: datetime) -> AccountResource:
    """Return somebody's own account as machine forms name it."""
    return shaped(
        AccountResource,
        user_resource(user, now=now),
        theme=user.theme.lower(),
        time_zone=user.time_zone,
        keys=[key_resource(key, now=now) for key in api_keys(user)],
    )


def user_resources(users: QuerySet[User], *, now: datetime) -> Iterator[UserResource]:
    """Yield accounts as machine forms name them, in their order."""
    endless = Q(api_keys__expires_at__isnull=True) | Q(api_keys__expires_at__gt=now)
    usable = Count("api_keys", filter=endless & Q(api_keys__revoked_at__isnull=True))
    found = users.annotate(num_keys=usable, used_at=Max("api_keys__last_used_at"))
    for user in found:
        seen = [at for at in (user.last_login, user.used_at) if at is not None]
        yield shaped(
            UserResource,
            user,
            name=user.username,
            role=user.get_role_display(),
            active=user.is_active,
            created_at=user.date_joined,
            last_sign_in_at=max(seen, default=None),
            last_seen_at=max(filter(None, (*seen, user.last_seen_at)), default=None),
            email_confirmed=bool(user.mail_address),
        )


def key_resource(key: APIKey, *, now: datetime) -> KeyResource:
    """Return a key as machine forms name it."""
    return shaped(
        KeyResource,
        key,
        label=key.name,
        user=key.user.username,
        state=key.state(now),
    )


def _key_page(user: User, query: ListQuery, now: datetime) -> PageOfRows[KeyResource]:
    keys = api_keys(user)
    place = paged(len(keys), query.page)
    rows = [key_resource(key, now=now) for key in keys[place.rows]]
    return PageOfRows(rows=rows, paged=place)


def _every_key(user: User, _query: ListQuery, now: datetime) -> Iterator[KeyResource]:
    yield from (key_resource(key, now=now) for key in api_keys(user))


def _listed(query: ListQuery) -> QuerySet[User]:
    users = User.objects.filter(username__icontains=query["q"])
    return users.order_by(*ordering(COLUMNS, query.sort, ties=("username",)))


def _page(_user: object, query: ListQuery, now: datetime) -> PageOfRows[UserResource]:
    users = _listed(query)
    place = paged(users.count(), query.page)
    return PageOfRows(
        rows=list(user_resources(users[place.rows], now=now)), paged=place
    )


def _every(_user: object, query: ListQuery, now: datetime) -> Iterator[UserResource]:
    yield from user_resources(_listed(query), now=now)


def api_keys(user: User) -> list[APIKey]:
    """Return the user's keys, the newest first, revoked ones last."""
    keys = user.api_keys.select_related("user").order_by("-created_at")
    return sorted(keys, key=lambda key: key.revoked_at is not None)


def key_of_secret(secret: str, *, now: datetime) -> APIKey:
    """Return the key that a script sends, with its user, and keep that it was used."""
    found = APIKey.objects.select_related("user").filter(key_sha256=sha256(secret))
    key = found.first()
    if key is None or key.revoked_at is not None or not key.user.is_active:
        raise errors.APIKeyUnknownError(looks_like_key=secret.startswith(KEY_MARK))
    if key.expires_at is not None and key.expires_at <= now:
        raise errors.APIKeyExpiredError(
            label=key.name, prefix=key.prefix, expires_at=key.expires_at
        )
    require_not_revived(key.created_at)
    if is_suspended(key.user, now) or not may_have_keys(key.user):
        raise errors.APIKeySuspendedError(label=key.name, prefix=key.prefix)
    if key.last_used_at is None or now - key.last_used_at > LAST_USE_EVERY:
        known = APIKey.objects.filter(id=key.id)
        write_note(
            lambda: known.update(last_used_at=now), of=f"The last use of {key.prefix}"
        )
    return key


COLUMNS: Final = (
    Column("name", "Name", "username"),
    Column("role", "Role", "role"),
    Column("", "Last seen"),
    Column("", "API keys", css="dw-r"),
    Column("created", "Newest", "date_joined", begins_descending=True, is_shown=False),
)
KEYS: Final = ListPage(
    entries="keys",
    template="",  # as a page they stand among all that is one's own
    filters={},
    page=_key_page,
    entry=KeyResource,
    every=_every_key,
)
USERS: Final = ListPage(
    entries="users",
    template="accounts/user_list.html",
    columns=COLUMNS,
    default_sort="name",
    filters={"q": forms.CharField(max_length=150, required=False)},
    page=_page,
    entry=UserResource,
    every=_every,
)


def note_seen(user: User, *, now: datetime) -> None:
    """Keep that a user opened a page."""
    if user.last_seen_at is None or now - user.last_seen_at > LAST_SEEN_EVERY:
        known = User.objects.filter(id=user.id)
        write_note(
            lambda: known.update(last_seen_at=now), of=f"A visit of {user.username}"
        )
