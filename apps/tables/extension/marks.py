"""What other apps say of a table: badges, marks to filter by, its name in a share.

An app registers its own when Django is ready.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Model, QuerySet

from apps.pages.frame import AnyUser
from apps.pages.registry import Registry

# === Badges ===


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A word beside a table's name, and a title that says more."""

    label: str
    icon: str
    title: str


# Returns the badges of some tables, for what this user may know.
BadgeProvider = Callable[[AnyUser, Collection[UUID]], Mapping[UUID, Badge]]

badges: Registry[BadgeProvider] = Registry()


def badges_of(user: AnyUser, table_ids: Collection[UUID]) -> dict[UUID, list[Badge]]:
    """Return the badges of tables that have any."""
    found: dict[UUID, list[Badge]] = {}
    for provider in badges:
        for table_id, badge in provider(user, table_ids).items():
            found.setdefault(table_id, []).append(badge)
    return found


# === Marks ===


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A word that some tables bear.

    Attributes:
        key: The word; the value of `?mark=`.
        visible: Who may know.
    """

    key: str
    tables: Callable[[], QuerySet[Model, UUID]]
    visible: Callable[[AnyUser], bool]


marks: Registry[Mark] = Registry(key=lambda mark: mark.key)


def marks_for(user: AnyUser) -> list[Mark]:
    """Return the marks that `user` may know of."""
    return [mark for mark in marks if mark.visible(user)]


# === Names in shares ===

NameFinder = Callable[[AnyUser, UUID], str]

share_names: Registry[NameFinder] = Registry()


def share_name_of(user: AnyUser, table_id: UUID) -> str:
    """Return `share.schema.table` of a table whose history is shared.

    "" where there is none, or none that this user may know.
    """
    names = (finder(user, table_id) for finder in share_names)
    return next((name for name in names if name), "")
