"""What switches stop in the apps around them."""

from collections.abc import Iterable
from typing import Final

from django.contrib.auth import logout
from django.contrib.auth.signals import user_logged_in
from django.db import DatabaseError
from django.http import HttpRequest

from apps.operate.switches.state import (
    SIGN_IN,
    WRITES,
    off_sentence,
    off_sentences,
    require_on,
    states,
)
from apps.pages import actions, frame

WHILE_WRITES_ARE_OFF: Final = ("switch.", "sign_in", "sign_out", "user.link")
"""What begins the names of records that are written all the same: signing in, links
that sign in, and switches."""

TO_DECIDE: Final = frame.Banner(
    "This server was restored from a backup. Sharing, sign-in and notifications stay"
    " off until an administrator has decided.",
    url_name="operate:restored",
    link="Decide",
)


def check_write(name: str) -> None:
    """Refuse a change while writes are off.

    Args:
        name: The name of its audit record.

    Raises:
        SwitchedOffError: If it is refused.
    """
    if not name.startswith(WHILE_WRITES_ARE_OFF):
        require_on(WRITES)


def check_sign_in(user: object) -> None:
    """Refuse that somebody signs in while that is off; administrators can.

    Raises:
        SwitchedOffError: If it is refused.
    """
    if not getattr(user, "is_admin", False):
        require_on(SIGN_IN)


def end_session(request: HttpRequest, user: object, **_: object) -> None:
    """End a session that begins while signing in is off, however it began."""
    try:
        check_sign_in(user)
    except Exception:
        logout(request)
        raise


def banners(user: frame.AnyUser) -> Iterable[frame.Banner]:
    """Return what people read on each page of what is off."""
    try:
        if getattr(user, "is_admin", False) and states.restored_at() is not None:
            return [TO_DECIDE]
        if user.is_authenticated:
            return [frame.Banner(one) for one in off_sentences()]
        sentence = off_sentence(SIGN_IN)
    except DatabaseError:  # of the page that says so
        return []
    return [frame.Banner(sentence)] if sentence else []


def begin() -> None:
    """Let the apps around ask."""
    actions.guards.register(check_write)
    frame.banners.register(banners)
    user_logged_in.connect(end_session, dispatch_uid="switches")
