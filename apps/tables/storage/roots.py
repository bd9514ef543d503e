"""The folders and object stores that a user may use, and whose a place in them is.

A location belongs to each registered table that it is, holds, or lies in. For a user
who lacks the right on one of these tables, nothing is there. All spellings of a place
count as one, and a spelling that may mean the same place counts as the same.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import Final, TypeAlias
from urllib.parse import unquote

from django.conf import settings

from apps.accounts.models import User
from apps.tables.errors import PlaceSharedError, ScanRootError
from apps.tables.models import AllowedRoot, Table
from apps.tables.models.rights import MANAGE, VIEW, is_open
from apps.tables.storage.connections import connection_prefixes
from apps.tables.storage.locations import check_allowed, is_remote, parse_root
from apps.tables.storage.url_prefixes import ANY_STORE, parts_of
from deltaweb.delta.errors import LocationInvalidError, LocationNotFoundError
from deltaweb.storage.data_path import LOG_FOLDER
from deltaweb.storage.location import RECEIVED

SAMPLES_FOLDER = "samples"
Name: TypeAlias = tuple[object, ...]
Level: TypeAlias = frozenset[Name]
"""The names of one folder or bucket; two levels with a common name are one place."""

_BUCKETS: Final = frozenset({"s3", "gs"})  # stores of one also answer as the other
_AZURE: Final = "abfs"
_ANY_ACCOUNT: Final = "any account"
_NO_ACCOUNT: Final = "no account"


def allow_root(path: str, *, reason: str, now: datetime) -> AllowedRoot:
    """Allow a folder or URL for good, whatever `DELTAWEB_ALLOWED_ROOTS` says (LAKE)."""
    root, _ = AllowedRoot.objects.update_or_create(
        path=parse_root(path) if is_remote(path) else str(Path(path).resolve()),
        defaults={"reason": reason},
        create_defaults={"reason": reason, "created_at": now},
    )
    return root


def samples_folder() -> Path:
    """Return the folder of the sample tables."""
    return Path(settings.HOME) / SAMPLES_FOLDER


def roots_for(user: User | None) -> list[str] | None:
    """Return the folders and prefixes of URLs that `user` may register from.

    None is any: where `DELTAWEB_ALLOWED_ROOTS` is not set, for administrators and the
    command line (no user). Editors always get what the setting, LAKE, the samples and
    the storage connections hold; so does everybody once the setting names a URL.
    While it names folders alone, it says nothing of object stores to the others.
    """
    is_trusted = user is None or user.is_admin
    configured = settings.ALLOWED_ROOTS
    if configured is None and is_trusted:
        return None
    roots = [parse_root(root) for root in configured or []]
    stored = AllowedRoot.objects.order_by("path").values_list("path", flat=True)
    folders = [*stored, str(samples_folder())]
    if is_trusted and not any(is_remote(root) for root in roots):
        return [*roots, *folders, *ANY_STORE]
    return [*roots, *folders, *connection_prefixes()]


# === Whose a place is ===


@dataclass(frozen=True, slots=True)
class HiddenPlaces:
    """The places of tables on which a user lacks a right.

    Attributes:
        roots: The names of the tables' folders.
        above: The same of their folders and all that hold them.
    """

    roots: Level = frozenset()
    above: Level = frozenset()

    @classmethod
    def of(cls, locations: Iterable[str]) -> "HiddenPlaces":
        """Return the places of some tables."""
        roots: set[Name] = set()
        above: set[Name] = set()
        for location in locations:
            for levels in _ways_to(location, is_known=True):
                roots |= levels[-1]
                above.update(*levels)
        return cls(frozenset(roots), frozenset(above))

    def hides(self, location: str) -> bool:
        """Return whether a location is, holds, or lies in one of the tables."""
        return self._meets(location, holds=True)

    def contains(self, location: str) -> bool:
        """Return whether a location is, or lies in, one of the tables."""
        return self._meets(location, holds=False)

    def _meets(self, location: str, *, holds: bool) -> bool:
        if not self.roots:
            return False
        return any(
            any(not self.roots.isdisjoint(level) for level in levels)
            or (holds and not self.above.isdisjoint(levels[-1]))
            for levels in _ways_to(location)
        )


def hidden_places(user: User | None, right: str) -> HiddenPlaces:
    """Return the places of tables on which a user lacks a right.

    Args:
        user: The user; None for the command line, which has every right.
        right: The right; `MANAGE` to make or register a table there, because whoever
            registers a table decides who sees it.
    """
    if user is None or user.is_admin:
        return HiddenPlaces()
    others = Table.objects.exclude(
        id__in=Table.objects.with_right(user, right).values("id")
    )
    return HiddenPlaces.of(others.values_list("location", flat=True).iterator())


def check_usable(location: str, user: User | None, right: str = VIEW) -> None:
    """Refuse a location that a user may not use.

    Args:
        location: From `parse_location`.
        user: As of `hidden_places`; so is `right`.

    Raises:
        LocationNotAllowedError: If no allowed root holds it.
        LocationNotFoundError: If it belongs to a table on which the user lacks the
            right, as if nothing were there.
    """
    check_allowed(location, roots=roots_for(user))
    if hidden_places(user, right).hides(location):
        raise LocationNotFoundError(location=location)


def check_scanned(location: str, user: User | None) -> None:
    """Refuse a folder or URL whose tables a user may not register.

    It may hold tables on which the user lacks the right: a scan leaves these out.

    Raises:
        LocationNotAllowedError: If no allowed root holds it.
        ScanRootError: If it is, or lies in, such a table, as if nothing were there.
    """
    check_allowed(location, roots=roots_for(user))
    if hidden_places(user, MANAGE).contains(location):
        raise ScanRootError(root=location, reason="it does not exist")


def check_not_shared(tables: Iterable[Table], name: str) -> None:
    """Refuse to make tables private while an open table leads to their files.

    Args:
        tables: The tables.
        name: What becomes private: a table, or a namespace such as `sales.*`.

    Raises:
        PlaceSharedError: If an open table is at, holds, or lies in one of their places.
    """
    made_private = {one.id: one.location for one in tables}
    places = HiddenPlaces.of(made_private.values())
    found = Table.objects.filter(is_open()).order_by("namespace", "name")
    others = [
        one.full_name
        for one in found.iterator()
        if one.id not in made_private and places.hides(one.location)
    ]
    if others:
        raise PlaceSharedError(name=name, others=others)


def _ways_to(location: str, *, is_known: bool = False) -> Iterator[Sequence[Level]]:
    """Yield the levels from the top down to a location.

    The log of a local table may be a link to another folder, so it is a second way. A
    URL with escapes has two ways.

    Args:
        is_known: Whether it is the location of a registered table.
    """
    if is_remote(location):
        yield from _levels_of_url(location, is_known=is_known)
        return
    yield _levels_of_path(os.path.realpath(location))
    log = os.path.realpath(os.path.join(location, LOG_FOLDER))  # noqa: PTH118 (of any text)
    if os.path.lexists(log):
        yield _levels_of_path(log)


def _levels_of_path(path: str) -> list[Level]:
    pure = PurePosixPath(path)
    return [_names_of_folder(str(one)) for one in [*reversed(pure.parents), pure]]


def _names_of_folder(path: str) -> Level:
    """Return the path of a folder, and what it has in common with its other paths."""
    names: set[Name] = {("path", path)}
    try:
        found = os.stat(path)  # noqa: PTH116 (of any text)
    except (OSError, ValueError):
        return frozenset(names)
    return frozenset(names | {("file", found.st_dev, found.st_ino)})


def _levels_of_url(location: str, *, is_known: bool) -> Iterator[list[Level]]:
    """Yield the levels of a URL as it is spelt, and with its escapes decoded."""
    try:
        store, bucket, *names = parts_of(location)
    except (LocationInvalidError, ValueError):
        yield [frozenset({(location,)})]
        return
    if location.startswith(RECEIVED):  # where names have no case
        names = [name.casefold() for name in names]
    tops = [*_buckets(store, bucket, is_known=is_known)]
    decoded = [part for part in unquote("/".join(names)).split("/") if part]
    for one in [names, decoded] if decoded != names else [names]:
        below = accumulate([(), *one], lambda path, name: (*path, name))
        yield [frozenset((*top, *path) for top in tops) for path in below]


def _buckets(store: str, bucket: str, *, is_known: bool) -> Iterator[Name]:
    """Yield the names of a bucket, or of a container with and without its account.

    A container without an account may be that of any account. Of two containers with
    an account, both have to be equal.
    """
    if store != _AZURE:
        kind = "bucket" if store in _BUCKETS else store
        yield kind, bucket.casefold()
        return
    container, at, host = bucket.casefold().rpartition("@")
    if not at:
        container, host = bucket.casefold(), ""
    account = host.partition(".")[0]
    if account:
        yield store, container, account
        yield store, container, _ANY_ACCOUNT if is_known else _NO_ACCOUNT
    else:
        yield store, container, _NO_ACCOUNT
        if not is_known:
            yield store, container, _ANY_ACCOUNT
