"""The folders and object stores that a user may use, and whose a place in them is.

A location belongs to each registered table that it is, holds, or lies in. For a user
who lacks the right on one of these tables, nothing is there.
"""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from django.conf import settings

from apps.accounts.models import User
from apps.tables.errors import PlaceSharedError, ScanRootError
from apps.tables.models import AllowedRoot, Table
from apps.tables.models.rights import MANAGE, VIEW, is_open
from apps.tables.storage.connections import connection_prefixes
from apps.tables.storage.locations import check_allowed, is_remote, parse_root
from deltaweb.delta.errors import LocationNotFoundError
from deltaweb.storage.spellings import ANY_STORE, HiddenPlaces

SAMPLES_FOLDER = "samples"


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


def open_places() -> HiddenPlaces:
    """Return the places of open tables, where no private table can be."""
    found = Table.objects.filter(is_open()).order_by()
    return HiddenPlaces.of(found.values_list("location", flat=True).iterator())


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
