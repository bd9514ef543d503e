"""What the first page tells administrators about sharing."""

from datetime import datetime, timedelta
from typing import Final

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Q
from django.urls import reverse

from apps.pages.front_page import KeyNumber
from apps.sharing.models import RecipientToken

EXPIRES_WITHIN: Final = timedelta(days=30)


def expiring_tokens(
    user: AbstractBaseUser | AnonymousUser, now: datetime
) -> KeyNumber | None:
    """Count the tokens that expire soon and that no newer one replaces."""
    if not getattr(user, "is_admin", False):
        return None
    soon = Q(expires_at__lte=now + EXPIRES_WITHIN, retires_at__isnull=True)
    live = RecipientToken.objects.live(now)
    counts = live.aggregate(live=Count("id"), expiring=Count("id", filter=soon))
    return KeyNumber(
        key="tokens_expiring_30d",
        label="Tokens expiring",
        value=counts["expiring"],
        note=f"in 30 days, of {counts['live']:,} live",
        url=f"{reverse('sharing:recipient-list')}?sort=ends",
    )
