"""What pages and commands show of accounts."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max

from deltaweb.web.accounts import errors
from deltaweb.web.accounts.models import APIKey, User
from deltaweb.web.accounts.tokens import KEY_MARK, sha256
from deltaweb.web.pages.request.lock_waits import write_note

LAST_USE_EVERY = timedelta(minutes=1)  # how exact a key's last use is kept


@dataclass(frozen=True, slots=True)
class UserRow:
    """One account as lists show it."""

    id: int
    name: str
    role: str
    is_active: bool
    joined_at: datetime
    last_seen_at: datetime | None
    num_keys: int

    def as_json(self) -> dict[str, object]:
        """Return the account as `.json` and `--json` write it."""
        return {
            "name": self.name,
            "role": self.role,
            "active": self.is_active,
            "created_at": self.joined_at,
            "last_sign_in_at": self.last_seen_at,
            "api_keys": self.num_keys,
        }


def get_user(name: str) -> User:
    """Return the user of that name.

    Raises:
        UserNotFoundError: If there is none.
    """
    user = User.objects.named(name).first()
    if user is None:
        raise errors.UserNotFoundError(name=name)
    return user


def user_rows(*, q: str = "") -> list[UserRow]:
    """Return every account by name, with how many keys it can use."""
    users = User.objects.get_queryset().order_by("username")
    if q:
        users = users.filter(username__icontains=q)
    keys = APIKey.objects.filter(user__in=users).values("user_id")
    usable = keys.filter(revoked_at__isnull=True).annotate(number=Count("id"))
    num_keys = dict(usable.values_list("user_id", "number"))
    used_at = dict(keys.annotate(at=Max("last_used_at")).values_list("user_id", "at"))
    return [
        UserRow(
            id=user.id,
            name=user.username,
            role=user.get_role_display(),
            is_active=user.is_active,
            joined_at=user.date_joined,
            last_seen_at=max(
                filter(None, (user.last_login, used_at.get(user.id))), default=None
            ),
            num_keys=num_keys.get(user.id, 0),
        )
        for user in users
    ]


def api_keys(user: User) -> list[APIKey]:
    """Return the user's keys, the newest first, revoked ones last."""
    keys = user.api_keys.order_by("-created_at")
    return sorted(keys, key=lambda key: key.revoked_at is not None)


def user_of_api_key(secret: str, *, now: datetime) -> User:
    """Return whose key it is, and keep that it was used.

    Raises:
        APIKeyUnknownError: If it is unknown or revoked, or its user disabled.
    """
    found = APIKey.objects.select_related("user").filter(key_sha256=sha256(secret))
    key = found.first()
    if key is None or not key.is_usable:
        raise errors.APIKeyUnknownError(looks_like_key=secret.startswith(KEY_MARK))
    if key.last_used_at is None or now - key.last_used_at > LAST_USE_EVERY:
        known = APIKey.objects.filter(id=key.id)
        write_note(
            lambda: known.update(last_used_at=now), of=f"The last use of {key.prefix}"
        )
    return key.user
