"""What recipients call a table: the app that shares it says so when it is ready."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from uuid import UUID

from deltaweb.web.pages.registry import Registry

if TYPE_CHECKING:  # An app's config imports this before Django's models are ready.
    from deltaweb.web.pages.frame.navigation import AnyUser

Finder = Callable[["AnyUser", UUID], str]

finders: Registry[Finder] = Registry()


def share_name_of(user: AnyUser, table_id: UUID) -> str:
    """Return `share.schema.table` of a table whose history is shared.

    "" where there is none, or none that this user may know.
    """
    names = (finder(user, table_id) for finder in finders)
    return next((name for name in names if name), "")
