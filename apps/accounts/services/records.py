"""How changes of accounts, sign-ins and refused ones are recorded."""

from dataclasses import replace
from typing import Final

from apps.accounts.models import User
from apps.pages.actions import Action, Stamp
from apps.pages.errors import PageError

UNKNOWN_USER: Final = "unknown"


def account_action(name: str, user: User, stamp: Stamp, **detail: object) -> Action:
    """Return the record of a change of somebody's account."""
    detail = {"user": user.username, **detail}
    return Action(name=name, stamp=stamp, detail=detail)


def sign_in_action(user: User, stamp: Stamp, *, by: str) -> Action:
    """Return the record of a user who came in, by `link` or `password`."""
    who = replace(stamp.actor, name=user.username, user_id=user.pk)
    return Action(name="sign_in", stamp=Stamp(who, stamp.at), detail={"by": by})


def failed_sign_in_action(
    user: User | None, stamp: Stamp, *, by: str, error: PageError
) -> Action:
    """Return the record of a refusal.

    A name that no account has is left out: it may be a mistyped password.
    """
    name = UNKNOWN_USER if user is None else user.username
    return Action(
        name="sign_in",
        stamp=Stamp(
            replace(stamp.actor, name=name, user_id=None if user is None else user.pk),
            stamp.at,
        ),
        detail={"by": by, "reason": error.message},
        status=error.status,
        error_code=error.code,
    )
