"""A token of minutes with all grants of a recipient, which leaves nothing behind."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.db import transaction
from django.utils import timezone

from apps.pages.actions import Stamp
from apps.sharing.issuing import tokens
from apps.sharing.issuing.profile import ProfileFile
from apps.sharing.models import Recipient, RecipientToken

LIFETIME: Final = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class OneRecipient:
    """The parameters of a job that comes in as a recipient does."""

    recipient: str


@contextmanager
def throw_away(
    recipient: Recipient, *, stamp: Stamp
) -> Iterator[tuple[RecipientToken, ProfileFile]]:
    """Make a token of a recipient and its file, and revoke and delete it at the end.

    The record has both changes. What is read by it is a rehearsal there, by the user of
    the stamp, and counts neither as use of the recipient nor against its limits.
    """
    with transaction.atomic():
        token = tokens.issue_token(recipient, lifetime=LIFETIME, stamp=stamp)
        RecipientToken.all_tokens.filter(id=token.id).update(is_throw_away=True)
        profile = tokens.issue_profile(token, stamp=stamp)
    token.refresh_from_db()
    try:
        yield token, profile
    finally:
        tokens.revoke(token, stamp=Stamp(stamp.actor, timezone.now())).delete()
