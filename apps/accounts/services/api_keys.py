"""The keys that scripts send: made, shown once, revoked."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from deltaweb.web.accounts import errors
from deltaweb.web.accounts.models import APIKey, User
from deltaweb.web.accounts.services.records import account_action
from deltaweb.web.accounts.tokens import PREFIX_LENGTH, new_api_key, sha256
from deltaweb.web.pages.actions import Actor, report


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new API key; `secret` is shown now and never again."""

    key: APIKey
    secret: str


@transaction.atomic
def issue_api_key(*, user: User, name: str, actor: Actor, now: datetime) -> IssuedKey:
    """Make a key for the user's scripts; its secret is returned once.

    Raises:
        UserDisabledError: If the account is disabled.
    """
    if not user.is_active:
        raise errors.UserDisabledError(name=user.username)
    secret = new_api_key()
    key = APIKey.objects.create(
        user=user,
        name=name.strip()[:100] or "unnamed",
        prefix=secret[:PREFIX_LENGTH],
        key_sha256=sha256(secret),
        created_at=now,
    )
    detail = {"label": key.name, "prefix": key.prefix}
    report(account_action("key.issue", user, actor, now, **detail))
    return IssuedKey(key, secret)


@transaction.atomic
def revoke_api_key(*, key: APIKey, actor: Actor, now: datetime) -> None:
    """Make a key worthless from the next request on."""
    live = APIKey.objects.filter(id=key.id, revoked_at__isnull=True)
    if live.update(revoked_at=now):
        detail = {"label": key.name, "prefix": key.prefix}
        report(account_action("key.revoke", key.user, actor, now, **detail))
