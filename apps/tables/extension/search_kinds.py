"""What else the search finds: an app registers a kind of its own when ready."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from apps.pages.frame import AnyUser
from apps.pages.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One thing that was found: its name, what it is about, and its page."""

    name: str
    about: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchKind:
    """A kind of thing beside tables and columns.

    Attributes:
        key: The value of `?kind=`.
        label: The kind's plural, which names its list in the JSON form too.
        icon: Stands before each.
        order: The place among the kinds; below 0, before tables and columns.
        find: Returns, in order, what a user may see that matches a text.
        visible: Who may look for this kind.
    """

    key: str
    label: str
    icon: str
    order: int
    find: Callable[[AnyUser, str], QuerySet[Any] | Sequence[Any]]
    hit: Callable[[Any], Hit] = lambda found: found
    visible: Callable[[AnyUser], bool] = lambda user: user.is_authenticated


kinds: Registry[SearchKind] = Registry(key=lambda kind: kind.key)


def kinds_for(user: AnyUser) -> list[SearchKind]:
    """Return the kinds that `user` may look for, in order."""
    seen = (kind for kind in kinds if kind.visible(user))
    return sorted(seen, key=lambda kind: kind.order)
