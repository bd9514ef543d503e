"""How the tokens of recipients stand, asked of the database for many at once."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    OuterRef,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce
from django.urls import reverse

from apps.pages.frame import KeyNumber
from apps.sharing.models import Grant, Recipient, RecipientToken

EXPIRES_SOON: Final = timedelta(days=7)  # a fresh token of 30 days is no cause for care


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensState:
    """How a recipient's tokens stand, in one word.

    Attributes:
        key: `active`, `expiring`, `expired`, `waiting`, `revoked` or `none`.
        ends_at: When the last of the live tokens ends; None without one.
        is_over_limit: Whether the hard limit of the month refuses every read.
    """

    key: str
    ends_at: datetime | None
    is_over_limit: bool = False

    @property
    def is_good(self) -> bool:
        return self.key in {"active", "expiring"}


def num_recipients_by_state(*, now: datetime) -> dict[str, int]:
    """Return how many recipients there are in each state of their tokens."""
    return num_by_state(with_tokens_state(Recipient.objects.all(), now=now))


def with_tokens_state(recipients: QuerySet[Recipient], *, now: datetime) -> Any:  # noqa: ANN401 (annotated rows)
    """Add `state`, `ends_at`, `last_used_at` and `num_shares` to recipients."""
    tokens = RecipientToken.objects.filter(recipient=OuterRef("pk"))
    live = tokens.live(now).with_end().order_by("-end")
    waiting = tokens.with_end().filter(
        end__gt=now, activated_at__isnull=True, revoked_at__isnull=True
    )
    newest = tokens.order_by("-created_at", "-id")
    used = tokens.order_by(F("last_used_at").desc(nulls_last=True))
    grants = Grant.objects.filter(recipient=OuterRef("pk")).order_by()
    return recipients.annotate(
        ends_at=Subquery(live.values("end")[:1]),
        last_used_at=Subquery(used.values("last_used_at")[:1]),
        num_shares=Coalesce(
            Subquery(grants.values("recipient").annotate(n=Count("id")).values("n")), 0
        ),
        newest_revoked_at=Subquery(newest.values("revoked_at")[:1]),
        state=Case(
            When(ends_at__gt=now + EXPIRES_SOON, then=Value("active")),
            When(ends_at__isnull=False, then=Value("expiring")),
            When(Exists(waiting), then=Value("waiting")),
            When(newest_revoked_at__isnull=False, then=Value("revoked")),
            When(Exists(tokens), then=Value("expired")),
            default=Value("none"),
        ),
    )


def num_by_state(found: Any) -> dict[str, int]:  # noqa: ANN401 (annotated rows)
    """Count recipients of `with_tokens_state` by their state."""
    return dict(found.order_by().values_list("state").annotate(recipients=Count("id")))


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
