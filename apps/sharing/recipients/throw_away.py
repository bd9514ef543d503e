"""A token of minutes with all grants of a recipient, which leaves nothing behind."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone

from deltaweb.web.pages.actions import Actor
from deltaweb.web.sharing.issuing import credentials, tokens
from deltaweb.web.sharing.issuing.profile import ProfileFile
from deltaweb.web.sharing.models import Recipient, RecipientToken

LIFETIME: Final = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class ThrowAway:
    """A token that lives as long as what needs it, and its profile file."""

    token: RecipientToken
    profile: ProfileFile


@contextmanager
def throw_away(
    recipient: Recipient, *, actor: Actor, now: datetime
) -> Iterator[ThrowAway]:
    """Make a token of a recipient, and revoke and delete it at the end.

    The record tells of both; one each night would fill the list of its tokens.

    Args:
        recipient: Who is stood in for.
        actor: Who asks; the token is recorded as theirs.
        now: The current time.
    """
    profiles: list[ProfileFile] = []
    made = credentials.issue(
        recipient, lifetime=LIFETIME, deliver=profiles.append, actor=actor, now=now
    )
    made.token.refresh_from_db()
    try:
        yield ThrowAway(made.token, profiles[0])
    finally:
        tokens.revoke(made.token, actor=actor, now=timezone.now()).delete()
