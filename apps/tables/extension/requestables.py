"""Things that can be listed and requested like tables and namespaces, such as shares.

An app registers a kind when Django is ready. A request stores the key of a thing, by
which the kind finds the thing again.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Model, QuerySet

from apps.accounts.models import Group, User
from apps.pages.actions import Stamp
from apps.pages.registry import Registry
from apps.tables.models.rights import VIEW

SEPARATOR: Final = ":"
"""It stands between a kind and a name or an id. No table has it in its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requestable:
    """Something that is neither a table nor a namespace. Administrators decide on it.

    Attributes:
        key: The key that a request stores, such as `share:<id>`.
        name: The name as commands take it, such as `share:retail`.
        about: The description for people who cannot view it.
        owner_name: The account to ask about it; None without one.
        is_listed: Whether people who cannot view it find it.
        request_url: The address of the page that requests access to it.
        access_url: The address of the page where it is decided.
        share: The share that the audit record names.
        has: Whether a user can view it at a moment.
        give: Gives the right to view it: to whom, until when, why, and by whom.
    """

    noun: str
    key: str
    name: str
    about: str
    owner_name: str | None
    is_listed: bool
    request_url: str
    access_url: str
    has: Callable[[User, datetime], bool]
    give: Callable[[User | Group, datetime | None, str, Stamp], None]
    share: str = ""

    @property
    def requestable_rights(self) -> tuple[str, ...]:
        """The rights that can be requested."""
        return (VIEW,)

    @property
    def table(self) -> None:
        """No table."""

    @property
    def own_namespace(self) -> None:
        """No namespace."""

    def rights_of(self, user: User, now: datetime) -> frozenset[str]:
        """Return the rights of a user at a moment."""
        return frozenset({VIEW} if self.has(user, now) else ())


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestableKind:
    """A kind of things that can be requested.

    Attributes:
        name: Such as `share`.
        listed: Returns the listed rows with a text in their name or description; none
            for a user who views all of them.
        named: Returns the thing of a name, if a user may request it.
        by_keys: Returns the things of some keys; unknown keys are left out.
    """

    name: str
    listed: Callable[[User, str], QuerySet[Model]]
    named: Callable[[User, str], Requestable]
    by_keys: Callable[[Collection[str]], Mapping[str, Requestable]]

    def of_rows(self, rows: Iterable[Model]) -> Iterator[Requestable]:
        """Yield the things of rows of `listed`, in their order."""
        keys = [f"{self.name}{SEPARATOR}{row.pk}" for row in rows]
        found = self.by_keys(keys)
        yield from (found[key] for key in keys if key in found)


kinds: Registry[RequestableKind] = Registry(key=lambda kind: kind.name)


def requestables(keys: Collection[str]) -> dict[str, Requestable]:
    """Return the things of some keys; unknown keys are left out."""
    found: dict[str, Requestable] = {}
    for kind in kinds:
        own = [one for one in keys if one.startswith(f"{kind.name}{SEPARATOR}")]
        found |= kind.by_keys(own) if own else {}
    return found


def requestable_named(user: User, name: str) -> Requestable | None:
    """Return the thing that `share:retail` names; None for a name without a kind."""
    for kind in kinds:
        prefix = f"{kind.name}{SEPARATOR}"
        if name.startswith(prefix):
            return kind.named(user, name.removeprefix(prefix))
    return None


def found_requestables(user: User, text: str) -> Iterator[Requestable]:
    """Yield the listed things of all kinds; see `RequestableKind.listed`."""
    for kind in kinds:
        yield from kind.of_rows(kind.listed(user, text))
