"""Locations: which spellings mean the same place, and which places hold others.

Prefixes of URLs match by whole names: `s3://bucket/a` holds `s3://bucket/a/t`, and not
`s3://bucket/ab`. `s3://` holds every bucket. For hidden tables, a spelling that may
mean the same place counts as the same. So do links, and the folder that a link of a
table's log leads to.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import PurePosixPath
from typing import Final, TypeAlias
from urllib.parse import unquote

from deltaweb.delta.errors import LocationInvalidError
from deltaweb.storage.data_path import LOG_FOLDER
from deltaweb.storage.location import RECEIVED, normalize_location

# Schemes that mean the same storage.
SAME_SCHEME: Final[Mapping[str, str]] = {
    "abfss": "abfs",
    "az": "abfs",
    "gcs": "gs",
    "s3a": "s3",
    "s3n": "s3",
    "wasb": "abfs",
    "wasbs": "abfs",
}
ANY_STORE: Final = ("abfs://", "adl://", "gs://", "received://", "s3://")

Name: TypeAlias = tuple[object, ...]
Level: TypeAlias = frozenset[Name]
"""The names of one folder or bucket; two levels with a common name are one place."""

_BUCKETS: Final = frozenset({"s3", "gs"})  # stores of one also answer as the other
_AZURE: Final = "abfs"
_ANY_ACCOUNT: Final = "any account"
_NO_ACCOUNT: Final = "no account"


# === Prefixes of URLs ===


def parts_of(url: str) -> list[str]:
    """Split a URL into its storage, its bucket, and the names below."""
    scheme, _, rest = url.partition("://")
    if rest.strip("/"):
        scheme, _, rest = normalize_location(url).partition("://")
    scheme = scheme.lower()
    names = [name for name in rest.split("/") if name]
    return [SAME_SCHEME.get(scheme, scheme), *_with_plain_host(names)]


def url_of(parts: Sequence[str]) -> str:
    """Return the URL that `parts_of` has split, in its one spelling."""
    return f"{parts[0]}://{'/'.join(parts[1:])}"


def holds(prefix: str, location: str) -> bool:
    """Whether a location is the place of a prefix, or below it."""
    names = parts_of(prefix)
    return parts_of(location)[: len(names)] == names


def _with_plain_host(names: Sequence[str]) -> list[str]:
    """Write the host of Azure's `container@host` in small letters, as it is one."""
    if not names:
        return []
    container, at, host = names[0].rpartition("@")
    return [f"{container}{at}{host.lower() if at else host}", *names[1:]]


# === Places of tables ===


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
        """Return whether a location is, holds, or is in one of the tables."""
        return self._meets(location, holds=True)

    def contains(self, location: str) -> bool:
        """Return whether a location is, or is in, one of the tables."""
        return self._meets(location, holds=False)

    def _meets(self, location: str, *, holds: bool) -> bool:
        if not self.roots:
            return False
        return any(
            any(not self.roots.isdisjoint(level) for level in levels)
            or (holds and not self.above.isdisjoint(levels[-1]))
            for levels in _ways_to(location)
        )


class ClosedPlaces:
    """The places of other tables that the files of one table may not be in.

    They are looked up when the first place outside of the table is read, or when they
    are pickled for another process. A table with relative paths needs no look-up.

    Args:
        find: Returns the locations of the other tables.
    """

    def __init__(self, find: Callable[[], Iterable[str]] = tuple) -> None:
        self._find = find

    def __reduce__(self) -> tuple[Callable[[tuple[str, ...]], "ClosedPlaces"], object]:
        return _closed, (self._locations,)

    def contains(self, place: str) -> bool:
        """Return whether a place is, or is in, one of the tables."""
        return self._places.contains(place)

    @cached_property
    def _locations(self) -> tuple[str, ...]:
        return tuple(self._find())

    @cached_property
    def _places(self) -> HiddenPlaces:
        return HiddenPlaces.of(self._locations)


def _closed(locations: tuple[str, ...]) -> ClosedPlaces:
    return ClosedPlaces(lambda: locations)


NONE_CLOSED: Final = ClosedPlaces()


def _ways_to(location: str, *, is_known: bool = False) -> Iterator[Sequence[Level]]:
    """Yield the levels from the top down to a location.

    The log of a local table may be a link to another folder, so it is a second way. A
    URL with escapes has two ways.

    Args:
        is_known: Whether it is the location of a registered table.
    """
    if "://" in location:
        yield from _levels_of_url(location, is_known=is_known)
        return
    yield _levels_of_path(_real_path(location))
    log = _real_path(os.path.join(location, LOG_FOLDER))  # noqa: PTH118 (of any text)
    if os.path.lexists(log):
        yield _levels_of_path(log)


def _real_path(path: str) -> str:
    """Return a path without links; one that may not be followed leads nowhere."""
    try:
        return os.path.realpath(path)
    except OSError:
        return path


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
