"""The person whom a command of notifications is about, and the subject it names."""

from apps.accounts.models import User
from apps.accounts.selectors import get_user
from apps.notices.errors import PersonRequiredError
from apps.pages.command import Argument, argument

FOR: Argument = argument(
    "--user",
    metavar="NAME",
    help="the person; default: the only account of this installation",
)
OWNED = "owned"
ALL = ".*"


def person(name: str | None) -> User:
    """Return the person of a command.

    Raises:
        PersonRequiredError: If no name is given, and there are several accounts.
    """
    if name:
        return get_user(name)
    active = list(User.objects.filter(is_active=True)[:2])
    if len(active) != 1:
        raise PersonRequiredError
    return active[0]


def subject_named(target: str) -> tuple[str, str]:
    """Return the kind and the name of what a command names.

    Args:
        target: `sales.orders`, `sales.*`, `owned`, or `share:retail` with the kind.
    """
    kind, colon, name = target.partition(":")
    if colon:
        return kind, name
    if target == OWNED:
        return OWNED, ""
    return ("namespace" if target.endswith(ALL) else "table"), target
