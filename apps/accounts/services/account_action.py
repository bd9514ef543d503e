"""How a change of an account is recorded."""

from datetime import datetime

from apps.accounts.models import User
from apps.pages.actions import Action, Actor


def account_action(
    name: str, user: User, actor: Actor, now: datetime, **detail: object
) -> Action:
    """Return the record of a change of somebody's account."""
    detail = {"user": user.username, **detail}
    return Action(name=name, actor=actor, at=now, detail=detail)
