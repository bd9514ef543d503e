"""What other apps know of a table, yes or no, for the catalogue to filter by.

An app registers its own when Django is ready.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltaweb.web.pages.registry import Registry

if TYPE_CHECKING:  # An app's config imports this before Django's models are ready.
    from collections.abc import Callable
    from uuid import UUID

    from django.db.models import Model, QuerySet

    from deltaweb.web.pages.frame.navigation import AnyUser


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
