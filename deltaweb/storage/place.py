"""Where a table is, how its storage is reached, and where its log may lead to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deltaweb import storage
from deltaweb.delta.log.store import TableStore
from deltaweb.storage import received
from deltaweb.storage.location import RECEIVED, is_local, normalize_location
from deltaweb.storage.spellings import NONE_CLOSED, ClosedPlaces


@dataclass(frozen=True, slots=True)
class TablePlace:
    """What a process needs to open a table; it travels to executors as it is.

    Attributes:
        allowed_roots: Roots outside of the table that its log may lead to.
        closed: The places below these roots that it may not lead to.
    """

    location: str
    storage_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    allowed_roots: Sequence[str] = ()
    closed: ClosedPlaces = field(default=NONE_CLOSED, compare=False, repr=False)

    def open(self) -> TableStore:
        """Return the store; nothing is read yet."""
        return open_store(
            self.location,
            self.storage_options,
            allowed_roots=self.allowed_roots,
            closed=self.closed,
        )


def open_store(
    location: str,
    storage_options: Mapping[str, Any] | None = None,
    *,
    allowed_roots: Sequence[str] = (),
    closed: ClosedPlaces = NONE_CLOSED,
) -> TableStore:
    """Return the store of the table at a location; nothing is read yet."""
    place = normalize_location(location)
    roots = [normalize_location(root) for root in allowed_roots]
    if is_local(place):
        return storage.local.LocalTableStore(
            place, [root for root in roots if is_local(root)], closed
        )
    if place.startswith(RECEIVED):
        return received.store.ReceivedTableStore(place, storage_options or {})
    return storage.remote.RemoteTableStore(place, storage_options or {}, roots, closed)


def open_shared(url: str) -> TableStore | None:
    """Return the store of `profile.share#share.schema.table`; None of another text.

    It is for whoever may read the profile file, and never for what a server opens.
    """
    if not is_of_profile(url):
        return None
    named = received.profile.split_table_url(url)
    return named and received.store.ReceivedTableStore.of_profile(*named)


def is_of_profile(url: str) -> bool:
    """Tell whether a text is `profile.share#share.schema.table`, of a file that is."""
    return "#" in url and received.profile.split_table_url(url) is not None
