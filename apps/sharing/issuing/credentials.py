"""A new token and what hands it out, its link or its profile file: all or nothing."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction

from deltaweb.web.pages.actions import Actor
from deltaweb.web.sharing.issuing import tokens
from deltaweb.web.sharing.issuing.profile import Profile
from deltaweb.web.sharing.issuing.tokens import Credentials
from deltaweb.web.sharing.models import Recipient, RecipientToken

# Puts a profile file where it belongs, in the place of a link. It runs inside the
# transaction: if it fails, no token stays whose secret nobody has.
Deliver = Callable[[Profile], None]


@transaction.atomic
def issue(
    recipient: Recipient,
    *,
    lifetime: timedelta,
    deliver: Deliver | None = None,
    actor: Actor,
    now: datetime,
) -> Credentials:
    """Make one more token and hand it out.

    Raises:
        LifetimeInvalidError: If it would live too long, or not at all.
    """
    token = tokens.issue_token(recipient, lifetime=lifetime, actor=actor, now=now)
    return _hand_out(token, deliver, actor=actor, now=now)


@transaction.atomic
def rotate(  # noqa: PLR0913 (each is one part of what is asked)
    recipient: Recipient,
    *,
    lifetime: timedelta,
    keep_old: timedelta,
    deliver: Deliver | None = None,
    actor: Actor,
    now: datetime,
) -> Credentials:
    """Make a token that replaces the others, and hand it out.

    Raises:
        LifetimeInvalidError: If a span is too long, or not one.
    """
    token = tokens.rotate(
        recipient, lifetime=lifetime, keep_old=keep_old, actor=actor, now=now
    )
    return _hand_out(token, deliver, actor=actor, now=now)


def _hand_out(
    token: RecipientToken, deliver: Deliver | None, *, actor: Actor, now: datetime
) -> Credentials:
    if deliver is None:
        return tokens.issue_link(token, actor=actor, now=now)
    deliver(tokens.issue_profile(token, actor=actor, now=now, address=actor.address))
    return Credentials(token=token)
