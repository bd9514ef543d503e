"""The entries of the rail: an app registers its own when Django is ready."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser

from deltaweb.web.pages.registry import Registry

AnyUser: TypeAlias = AbstractBaseUser | AnonymousUser


@dataclass(frozen=True, slots=True, kw_only=True)
class NavEntry:
    """One place in the rail.

    `prefixes` are the paths under which the entry counts as the current place.
    """

    label: str
    icon: str
    url_name: str
    order: int
    prefixes: tuple[str, ...]
    visible: Callable[[AnyUser], bool] = lambda user: user.is_authenticated
    at_bottom: bool = False


entries: Registry[NavEntry] = Registry(key=lambda entry: entry.url_name)


def entries_for(user: AnyUser) -> list[NavEntry]:
    """Return the entries that `user` sees, in order."""
    seen = (entry for entry in entries if entry.visible(user))
    return sorted(seen, key=lambda entry: (entry.at_bottom, entry.order))
