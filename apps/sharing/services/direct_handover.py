"""A token that is handed over at once, as a profile file and without a link.

`deliver` puts the file where it belongs. It runs inside the transaction: when it fails,
nothing has changed, and no token lives whose secret nobody has.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from django.db import transaction

from apps.pages.actions import Actor
from apps.sharing.models import Recipient, RecipientToken, Share
from apps.sharing.profile import Profile
from apps.sharing.services import recipients, tokens

Deliver = Callable[[Profile], None]


@transaction.atomic
def invite(  # noqa: PLR0913 (each is one fact of the recipient)
    *,
    name: str,
    contact: str,
    comment: str,
    allowed_networks: Iterable[str],
    shares: Iterable[Share],
    lifetime: timedelta,
    deliver: Deliver,
    actor: Actor,
    now: datetime,
) -> RecipientToken:
    """Make a recipient with its grants and an active token, and deliver its profile.

    Raises:
        SharingStateError: If a name, a network or the lifetime will not do.
    """
    recipient = recipients.create_recipient(
        name=name,
        contact=contact,
        comment=comment,
        allowed_networks=allowed_networks,
        actor=actor,
        now=now,
    )
    for share in shares:
        recipients.grant(share, recipient, actor=actor, now=now)
    token = tokens.issue_token(recipient, lifetime=lifetime, actor=actor, now=now)
    deliver(tokens.issue_profile(token, actor=actor, now=now, address=actor.address))
    return token


@transaction.atomic
def rotate(  # noqa: PLR0913 (each is one part of what is asked)
    recipient: Recipient,
    *,
    lifetime: timedelta,
    keep_old: timedelta,
    deliver: Deliver,
    actor: Actor,
    now: datetime,
) -> RecipientToken:
    """Replace a recipient's tokens by an active one, and deliver its profile.

    Raises:
        LifetimeInvalidError: If a span is too long, or not one.
    """
    token = tokens.rotate(
        recipient, lifetime=lifetime, keep_old=keep_old, actor=actor, now=now
    )
    deliver(tokens.issue_profile(token, actor=actor, now=now, address=actor.address))
    return token
