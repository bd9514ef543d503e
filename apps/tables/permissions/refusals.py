"""The answers to a user who lacks a right."""

from difflib import get_close_matches
from typing import Final

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.pages.errors import PageError
from apps.tables.models import Table
from apps.tables.models.rights import EDIT, MANAGE, OWN, SHARE, VIEW
from deltaweb.errors import MAX_NAME_LENGTH

MAX_COMPARED: Final = 2_000  # names that an unknown one is compared with
_DOES: Final = {
    VIEW: "view",
    EDIT: "change",
    SHARE: "share",
    MANAGE: "rename or remove",
    OWN: "decide who can see",
}


class RightRequiredError(PageError, code="permission-denied"):
    """A user can see a table or a namespace, and lacks another right on it."""

    name: str
    right: str
    status = 403
    message = "You may not {_does} {name}."
    hint = "Ask its owner or an administrator for the right to {right} it."

    @property
    def _does(self) -> str:
        return _DOES[self.right]


def unknown_table(user: User | AnonymousUser, full_name: str) -> PageError:
    """Say that no table has a name, and which one that the user sees has one alike."""
    seen = Table.objects.visible_to(user).only("namespace", "name").order_by("name")
    names = {one.full_name.lower(): one for one in seen[:MAX_COMPARED]}
    close = get_close_matches(full_name[:MAX_NAME_LENGTH].lower(), names, n=1)
    meant = names[close[0]] if close else None
    question = f"Did you mean {meant.full_name}? " if meant else ""
    return PageError(
        status=404,
        code="table-not-found",
        message=f"No table is named {full_name}.",
        hint=f"{question}The catalog lists the tables that you can see.",
        way_out=(f"To {meant.full_name}", meant.get_absolute_url()) if meant else None,
    )
