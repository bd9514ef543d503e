"""What other apps say of a table in a word: an app registers its own when ready."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from deltaweb.web.pages.registry import Registry

if TYPE_CHECKING:  # An app's config imports this before Django's models are ready.
    from deltaweb.web.pages.frame.navigation import AnyUser


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A word beside a table's name, and a title that says more."""

    label: str
    icon: str
    title: str


# Returns the badges of some tables, for what this user may know.
Provider = Callable[["AnyUser", Collection[UUID]], Mapping[UUID, Badge]]

providers: Registry[Provider] = Registry()


def badges_of(user: AnyUser, table_ids: Collection[UUID]) -> dict[UUID, list[Badge]]:
    """Return the badges of tables that have any."""
    badges: dict[UUID, list[Badge]] = {}
    for provider in providers:
        for table_id, badge in provider(user, table_ids).items():
            badges.setdefault(table_id, []).append(badge)
    return badges
