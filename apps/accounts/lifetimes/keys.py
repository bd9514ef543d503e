"""The API keys of a user that end soon."""

from datetime import datetime

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.urls import reverse

from apps.accounts.models import KEY_EXPIRES_SOON, APIKey, User
from apps.pages.frame import KeyNumber


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
