"""What other apps say of a table in a word: an app registers its own when ready."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:  # An app's config imports this before Django's models are ready.
    from apps.pages.navigation import AnyUser


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A word beside a table's name, and a title that says more."""

    label: str
    icon: str
    title: str


# Returns the badges of some tables, for what this user may know.
Provider = Callable[["AnyUser", Collection[UUID]], Mapping[UUID, Badge]]

_providers: list[Provider] = []


def register(provider: Provider) -> None:
    """Ask `provider` for badges; registering it again changes nothing."""
    if provider not in _providers:
        _providers.append(provider)


def badges_of(user: AnyUser, table_ids: Collection[UUID]) -> dict[UUID, list[Badge]]:
    """Return the badges of tables that have any."""
    badges: dict[UUID, list[Badge]] = {}
    for provider in _providers:
        for table_id, badge in provider(user, table_ids).items():
            badges.setdefault(table_id, []).append(badge)
    return badges
