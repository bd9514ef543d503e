"""Storage connections: which options a location is read and signed with.

The connection with the longest prefix that holds a location counts.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.db import IntegrityError, transaction

from apps.pages.actions import Action, Stamp, report
from apps.pages.page_json import shaped
from apps.tables import storage
from apps.tables.models import StorageConnection, Table
from apps.tables.storage.errors import (
    StorageElsewhereError,
    StorageNameError,
    StorageNameTakenError,
    StorageNotFoundError,
    StoragePrefixTakenError,
)
from apps.tables.storage.locations import is_remote, parse_location
from apps.tables.storage.options import resolve
from apps.tables.storage.received import is_received, received_options
from deltaweb.delta.errors import LocationInvalidError
from deltaweb.storage.spellings import parts_of, url_of

MAX_PREFIX_LENGTH: Final = 500
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageResource:
    """A storage connection as machine forms name it.

    Attributes:
        prefix: The prefix of locations that are read through it.
        options: The names of its options. Their values are never shown.
    """

    name: str
    prefix: str
    options: list[str]
    created_at: datetime
    updated_at: datetime


def storage_resource(connection: StorageConnection) -> StorageResource:
    """Return a connection as machine forms name it."""
    return shaped(StorageResource, connection, options=connection.option_names)


# === Finding ===


def options_for(location: str) -> dict[str, Any]:
    """Return the options of the connection that a location belongs to, looked up.

    Empty for a local path, and where no connection's prefix holds the location: the
    driver then finds credentials by itself. Never to be shown or logged.
    """
    connection = connection_for(location)
    if connection is None:
        return {}
    if is_received(location):
        return received_options(connection)
    options = storage.sealing.unseal(connection.sealed, storage=connection.name)
    resolved = resolve(options, storage=connection.name)
    return storage.endpoints.confined(resolved, allowed=settings.STORAGE_HOSTS)


def connection_for(location: str) -> StorageConnection | None:
    """Return the connection with the longest prefix that holds a location."""
    if not is_remote(location):
        return None
    parts = parts_of(location)
    candidates = {url_of(parts[:count]): count for count in range(1, len(parts) + 1)}
    found = StorageConnection.objects.filter(prefix__in=candidates)
    return max(found, key=lambda one: candidates[one.prefix], default=None)


def connection_prefixes() -> list[str]:
    """Return the prefixes of all connections, in their order."""
    prefixes = StorageConnection.objects.order_by("prefix")
    return list(prefixes.values_list("prefix", flat=True))


def find_connection(name: str) -> StorageConnection:
    """Return the connection of a name."""
    # No name has a NUL, and a database cannot be asked for one.
    known = StorageConnection.objects.filter(name=name)
    connection = None if "\0" in name else known.first()
    if connection is None:
        raise StorageNotFoundError(name=name)
    return connection


def check_connection(location: str, name: str) -> None:
    """See that a location is read through the connection that somebody names."""
    if connection_for(location) != find_connection(name):
        raise StorageElsewhereError(name=name, location=location)


def tables_of(connection: StorageConnection) -> list[Table]:
    """Return the registered tables that are read through a connection."""
    return [
        table
        for table in Table.objects.only("namespace", "name", "location")
        if connection_for(table.location) == connection
    ]


def parse_prefix(text: str) -> str:
    """Return the one spelling of a prefix, without a trailing slash."""
    prefix = parse_location(text)
    if not is_remote(prefix):
        reason = "a storage begins with the URL of an object store"
        raise LocationInvalidError(location=text, reason=reason)
    joined = url_of(parts_of(prefix))
    if len(joined) > MAX_PREFIX_LENGTH:
        reason = f"it is longer than {MAX_PREFIX_LENGTH} characters"
        raise LocationInvalidError(location=joined[:80], reason=reason)
    return joined


# === Changing ===


@transaction.atomic
def add_connection(
    *,
    name: str,
    prefix: str,
    options: Mapping[str, str],
    stamp: Stamp,
    replace: bool = False,
) -> StorageConnection:
    """Keep how a storage is reached; its options are sealed and never shown again.

    Args:
        prefix: The URL that locations begin with.
        options: From `storage_options.parse_options`.
        replace: Whether one of this name may be there, and gets this instead.
    """
    if _NAME.fullmatch(name) is None:
        raise StorageNameError(name=name)
    storage.endpoints.check_endpoints(options, allowed=settings.STORAGE_HOSTS)
    place = parse_prefix(prefix)
    connection = StorageConnection.objects.filter(name=name).first()
    is_other = connection is not None and (
        is_received(connection.prefix) != is_received(place)
    )
    if connection is not None and (is_other or not replace):
        raise StorageNameTakenError(name=name, prefix=connection.prefix)
    action = "storage.add" if connection is None else "storage.replace"
    if connection is None:
        connection = StorageConnection(
            name=name, created_at=stamp.at, created_by_id=stamp.actor.user_id
        )
    connection.prefix = place
    connection.option_names = sorted(options)
    connection.sealed = storage.sealing.seal(options)
    connection.updated_at = stamp.at
    connection.failures, connection.rests_until = 0, None
    _save(connection)
    report_storage(action, connection, stamp=stamp)
    return connection


@transaction.atomic
def remove_connection(connection: StorageConnection, *, stamp: Stamp) -> None:
    """Forget how a storage is reached; its tables stay registered."""
    report_storage("storage.remove", connection, stamp=stamp)
    connection.delete()


@transaction.atomic
def reseal_connections(*, stamp: Stamp) -> Sequence[StorageConnection]:
    """Encrypt all options again with the current secret key."""
    # Or options that another request replaces now would be those of before again.
    connections = list(StorageConnection.objects.select_for_update(no_key=True))
    for connection in connections:
        connection.sealed = storage.sealing.seal_again(
            connection.sealed, storage=connection.name
        )
        connection.save(update_fields=["sealed"])
        report_storage("storage.reseal", connection, stamp=stamp)
    return connections


def _save(connection: StorageConnection) -> None:
    """Save; the database has the last word where two ask for one prefix at once."""
    others = StorageConnection.objects.filter(prefix=connection.prefix)
    other = others.exclude(pk=connection.pk).first()
    if other is not None:
        raise StoragePrefixTakenError(name=other.name, prefix=connection.prefix)
    try:
        with transaction.atomic():
            connection.save()
    except IntegrityError as error:
        raise StoragePrefixTakenError(
            name="another one", prefix=connection.prefix
        ) from error


def report_storage(name: str, connection: StorageConnection, *, stamp: Stamp) -> None:
    """Record a change of a connection, by the names of its options alone."""
    detail = {
        "storage": connection.name,
        "prefix": connection.prefix,
        "options": connection.option_names,
    }
    report(Action(name=name, stamp=stamp, detail=detail))
