"""What a recipient may read, set as a whole."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.pages.actions import Actor
from apps.sharing.models import Recipient, Share
from apps.sharing.services import recipients


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantChange:
    """How many shares a recipient got, and how many were taken."""

    added: int
    removed: int


@transaction.atomic
def set_grants(
    recipient: Recipient, shares: Collection[Share], *, actor: Actor, now: datetime
) -> GrantChange:
    """Let a recipient read these shares and no others, from its next request on."""
    held = {share.id: share for share in recipient.shares.all()}
    wanted = {share.id: share for share in shares}
    added = [share for key, share in wanted.items() if key not in held]
    removed = [share for key, share in held.items() if key not in wanted]
    for share in added:
        recipients.grant(share, recipient, actor=actor, now=now)
    for share in removed:
        recipients.ungrant(share, recipient, actor=actor, now=now)
    return GrantChange(added=len(added), removed=len(removed))
