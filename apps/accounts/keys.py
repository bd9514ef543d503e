"""What apps say of API keys when they are ready, and need little for.

That is which scope a key needs for what an app changes, and which keys end soon.
"""

from datetime import datetime

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.urls import reverse

from apps.accounts.models import KEY_EXPIRES_SOON, APIKey, Scope, User
from apps.pages.frame import KeyNumber
from apps.pages.registry import Registry

app_scopes: Registry[tuple[str, Scope]] = Registry(key=lambda one: one[0])
"""The scope that a key needs for what an app changes, where it is not `write`."""


def expiring_keys(
    user: AbstractBaseUser | AnonymousUser, now: datetime
) -> KeyNumber | None:
    """Count the keys of one's own that end soon; None where none does."""
    if not isinstance(user, User):
        return None
    ends = [key.expires_at for key in APIKey.objects.expiring(now).filter(user=user)]
    if not ends or ends[0] is None:
        return None
    return KeyNumber(
        key=f"api_keys_expiring_{KEY_EXPIRES_SOON.days}d",
        label="API keys expiring",
        value=len(ends),
        note=f"of yours; the first one expires on {ends[0]:%Y-%m-%d}",
        url=f"{reverse('accounts:me')}#keys",
    )
