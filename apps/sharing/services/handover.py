"""A token and the link that hands it over, made in one step: all or nothing."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import transaction

from apps.pages.actions import Actor
from apps.sharing.models import Recipient, RecipientToken, Share
from apps.sharing.services import recipients, tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """A token that waits for its activation, and its link: shown once, kept nowhere."""

    token: RecipientToken
    link: str = field(repr=False)


@transaction.atomic
def invite(  # noqa: PLR0913 (each is one fact of the recipient)
    *,
    name: str,
    contact: str,
    comment: str,
    allowed_networks: Iterable[str],
    shares: Iterable[Share],
    lifetime: timedelta,
    actor: Actor,
    now: datetime,
) -> Handover:
    """Make a recipient with its grants, its first token and the token's link.

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
    return issue(recipient, lifetime=lifetime, actor=actor, now=now)


@transaction.atomic
def issue(
    recipient: Recipient, *, lifetime: timedelta, actor: Actor, now: datetime
) -> Handover:
    """Make one more token and its link.

    Raises:
        LifetimeInvalidError: If it would live too long, or not at all.
    """
    token = tokens.issue_token(recipient, lifetime=lifetime, actor=actor, now=now)
    return renew(token, actor=actor, now=now)


@transaction.atomic
def rotate(
    recipient: Recipient,
    *,
    lifetime: timedelta,
    keep_old: timedelta,
    actor: Actor,
    now: datetime,
) -> Handover:
    """Make a token that replaces the others, and its link.

    Raises:
        LifetimeInvalidError: If a span is too long, or not one.
    """
    token = tokens.rotate(
        recipient, lifetime=lifetime, keep_old=keep_old, actor=actor, now=now
    )
    return renew(token, actor=actor, now=now)


def renew(token: RecipientToken, *, actor: Actor, now: datetime) -> Handover:
    """Make a link for a token that waits; older ones are withdrawn.

    Raises:
        TokenStateError: If the token does not wait for its activation.
    """
    link = tokens.issue_link(token, actor=actor, now=now)
    return Handover(token=token, link=link)
