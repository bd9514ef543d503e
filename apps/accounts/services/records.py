"""How changes of accounts, sign-ins and refused ones are recorded."""

from dataclasses import replace
from datetime import datetime
from typing import Final

from deltaweb.web.accounts.models import User
from deltaweb.web.pages.actions import Action, Actor
from deltaweb.web.pages.errors import PageError

UNKNOWN_USER: Final = "unknown"


def account_action(
    name: str, user: User, actor: Actor, now: datetime, **detail: object
) -> Action:
    """Return the record of a change of somebody's account."""
    detail = {"user": user.username, **detail}
    return Action(name=name, actor=actor, at=now, detail=detail)


def sign_in_action(user: User, actor: Actor, now: datetime, *, by: str) -> Action:
    """Return the record of a user who came in, by `link` or `password`."""
    who = replace(actor, name=user.username, user_id=user.pk)
    return Action(name="sign_in", actor=who, at=now, detail={"by": by})


def failed_sign_in_action(
    user: User | None, actor: Actor, now: datetime, *, by: str, error: PageError
) -> Action:
    """Return the record of a refusal.

    A name that no account has is left out: it may be a mistyped password.
    """
    name = UNKNOWN_USER if user is None else user.username
    return Action(
        name="sign_in",
        actor=replace(actor, name=name, user_id=None if user is None else user.pk),
        at=now,
        detail={"by": by, "reason": error.message},
        status=error.status,
        error_code=error.code,
    )
