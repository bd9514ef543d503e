"""The keys that scripts send: made, shown once, revoked."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.accounts import errors
from apps.accounts.models import APIKey, Scope, User, usual_scopes
from apps.accounts.services.records import account_action
from apps.accounts.tokens import PREFIX_LENGTH, new_api_key, sha256
from apps.pages.actions import Stamp, report


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new API key; `secret` is shown now and never again."""

    key: APIKey
    secret: str


@transaction.atomic
def issue_api_key(
    *,
    user: User,
    name: str,
    scopes: Iterable[str] = (),
    expires_at: datetime | None = None,
    stamp: Stamp,
) -> IssuedKey:
    """Make a key for the user's scripts; its secret is returned once.

    Args:
        user: Whose key it is; it never opens more than its user may.
        scopes: Values of `Scope`; the usual ones for none. Reading is one of each.
        expires_at: When it ends; None for never.
    """
    if not user.is_active:
        raise errors.UserDisabledError(name=user.username)
    held = _checked_scopes(scopes)
    secret = new_api_key()
    key = APIKey.objects.create(
        user=user,
        name=name.strip()[:100] or "unnamed",
        prefix=secret[:PREFIX_LENGTH],
        key_sha256=sha256(secret),
        scopes=held,
        created_at=stamp.at,
        expires_at=expires_at,
    )
    detail = {
        "label": key.name,
        "prefix": key.prefix,
        "scopes": held,
        "expires_at": None if expires_at is None else expires_at.isoformat(),
    }
    report(account_action("key.issue", user, stamp, **detail))
    return IssuedKey(key, secret)


@transaction.atomic
def revoke_api_key(*, key: APIKey, stamp: Stamp) -> None:
    """Make a key worthless from the next request on."""
    live = APIKey.objects.filter(id=key.id, revoked_at__isnull=True)
    if live.update(revoked_at=stamp.at):
        detail = {"label": key.name, "prefix": key.prefix}
        report(account_action("key.revoke", key.user, stamp, **detail))


def _checked_scopes(names: Iterable[str]) -> list[str]:
    """Return scopes in the order of `Scope`, reading among them."""
    wanted = {name.strip().lower() for name in names}
    for name in sorted(wanted.difference(Scope.values)):
        raise errors.ScopeInvalidError(scope=name, known=Scope.values)
    if not wanted:
        return usual_scopes()
    return [one for one in Scope.values if one in wanted or one == Scope.READ]
