"""Tables are opened here: with their storage's options, and only in an allowed place.

A table is checked when it is registered, but its folder may since have become a link
that leads out of the allowed roots or to a private table. The roots may have changed,
too.
"""

import io
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import quote

import pyarrow as pa
from django.conf import settings
from django.db import OperationalError, ProgrammingError

from apps.pages.first_use import has_database
from apps.tables.models import Table
from apps.tables.storage.closed import check_not_moved, locations_closed_to
from apps.tables.storage.connections import options_for
from apps.tables.storage.locations import check_allowed, is_remote
from apps.tables.storage.received import waiting
from apps.tables.storage.roots import roots_for
from deltaweb.delta.errors import LocationInvalidError
from deltaweb.storage.local_file import open_local_file
from deltaweb.storage.place import TablePlace, open_shared, open_store
from deltaweb.storage.spellings import ClosedPlaces
from deltaweb.table import DeltaTable
from deltaweb.writer import importing


def roots_of_server() -> Sequence[str] | None:
    """Return the folders that this server may read tables from; None is any."""
    return roots_for(None)


def open_table(
    table: Table,
    *,
    roots: Sequence[str] | None,
    time_zone: str | None = None,
    is_waited_for: bool = False,
) -> DeltaTable:
    """Return the reader of a registered table.

    Args:
        roots: From `roots_of_server`, which asks the database.
        is_waited_for: Whether a person waits for what is read: a provider of a
            received table gets less time then.
    """
    place = table_place(table, roots=roots)
    if is_waited_for:
        place = replace(place, storage_options=waiting(place.storage_options))
    store = place.open()
    return DeltaTable.from_store(store, time_zone=time_zone)


def table_place(table: Table, *, roots: Sequence[str] | None) -> TablePlace:
    """Return the place of a registered table, for this process or for executors.

    Args:
        roots: From `roots_of_server`.
    """
    check_allowed(table.location, roots=roots)
    return TablePlace(
        table.location,
        options_for(table.location),
        tuple(settings.ALLOWED_ROOTS or ()),
        ClosedPlaces(partial(locations_closed_to, table)),
    )


def open_table_file(table: Table, path: str) -> io.FileIO:
    """Open a file of a local table, to be handed out.

    Args:
        path: Its path below the table's folder, decoded.

    Raises:
        LocationNotAllowedError: If the folder has become a link out of every root.
        LocationNotFoundError: If it has become a link to a private table.
        DataFileError: If it is not there, or leads out of the folder.
    """
    check_allowed(table.location, roots=roots_of_server())
    check_not_moved(table)
    return open_local_file(table.location, path)


def open_location(location: str, *, time_zone: str | None = None) -> DeltaTable:
    """Return the reader of any location, for the command line.

    It needs no database: without one no storage has options.

    Args:
        location: From `parse_location`, or a table of a profile file.
        time_zone: As `DeltaTable` takes it.
    """
    store = open_shared(location) or place_of(location).open()
    return DeltaTable.from_store(store, time_zone=time_zone)


def place_of(location: str) -> TablePlace:
    """Return the place of any location, as `open_location` opens it."""
    return TablePlace(location, _known_options(location))


def open_file(location: str) -> pa.NativeFile:
    """Open a file of this machine or of an object store; whoever does closes it.

    Args:
        location: From `parse_location`; whether it is allowed is checked before.
    """
    if not is_remote(location):
        return importing.source_file.open_here(location)
    folder, _, name = location.rpartition("/")
    if not name or folder.endswith(":/"):
        raise LocationInvalidError(location=location, reason="it names no file")
    store = open_store(folder, _known_options(location))
    return store.open_data_file(quote(name))


def _known_options(location: str) -> dict[str, Any]:
    try:
        return options_for(location) if has_database() else {}
    except (OperationalError, ProgrammingError):
        return {}
