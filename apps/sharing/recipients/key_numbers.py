"""What the first page shows administrators of sharing."""

from datetime import datetime

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.urls import reverse

from deltaweb.web.pages.frame.front_page import KeyNumber
from deltaweb.web.sharing.recipients.token_states import (
    EXPIRES_SOON,
    num_recipients_by_state,
)


def expiring_tokens(
    user: AbstractBaseUser | AnonymousUser, now: datetime
) -> KeyNumber | None:
    """Count the recipients whose last working token ends soon."""
    if not getattr(user, "is_admin", False):
        return None
    num_by_state = num_recipients_by_state(now=now)
    num_expiring = num_by_state.get("expiring", 0)
    num_live = num_expiring + num_by_state.get("active", 0)
    url = reverse("sharing:recipient-list")
    return KeyNumber(
        key=f"tokens_expiring_{EXPIRES_SOON.days}d",
        label="Tokens expiring",
        value=num_expiring,
        note=f"in {EXPIRES_SOON.days} days, of {num_live:,} with access",
        url=f"{url}?state=expiring" if num_expiring else f"{url}?sort=ends",
    )
