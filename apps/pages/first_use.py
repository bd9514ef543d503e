"""The embedded database of a home: the first command that needs it creates it."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from django.core.management import call_command, load_command_class
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.signals import connection_created

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

MIGRATION_LOCK: Final = 0x64656C7461  # a number that only migrations of deltaweb use


def embedded_file() -> Path | None:
    """Return the file of the embedded database; None for a server or for memory."""
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor != "sqlite" or connection.is_in_memory_db():  # type: ignore[attr-defined]  # of SQLite's wrapper
        return None
    return Path(connection.settings_dict["NAME"])


def has_database() -> bool:
    """Return whether there is a database; a look at it would create the file."""
    file = embedded_file()
    return file is None or file.exists()


@contextmanager
def locked_for_migration(*, shared: bool = False) -> Iterator[None]:
    """Wait until no other process migrates the database.

    Args:
        shared: Whether this process only reads what was migrated.
    """
    file = embedded_file()
    if file is None:
        with _locked_on_server(shared=shared):
            yield
        return
    if not file.parent.is_dir():
        yield
        return
    # The lock is on the folder, so that it leaves no file there.
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


@contextmanager
def _locked_on_server(*, shared: bool) -> Iterator[None]:
    """Hold an advisory lock of PostgreSQL by a connection of its own.

    It is a lock of a transaction, so that poolers of connections keep it.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    if shared or connection.vendor != "postgresql":
        yield
        return
    holder = connection.copy()
    try:
        holder.set_autocommit(False)
        with holder.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [MIGRATION_LOCK])
        yield
    finally:
        holder.close()


@contextmanager
def database_on_first_use(say: Callable[[str], object]) -> Iterator[None]:
    """Create the embedded database when something first connects, if it is empty.

    Args:
        say: Called with a sentence that names the file, once it was created.
    """

    def create(connection: "BaseDatabaseWrapper", **_: Any) -> None:  # noqa: ANN401 (of the signal)
        file = embedded_file()
        if connection.alias != DEFAULT_DB_ALIAS or file is None:
            return
        with locked_for_migration(shared=True):
            if has_tables(connection):
                return
        migrate: Any = load_command_class("deltaweb", "migrate")
        call_command(migrate, verbosity=0, interactive=False)
        if migrate.has_created:
            say(f"Created {file}")

    connection_created.connect(create)
    try:
        yield
    finally:
        connection_created.disconnect(create)


def has_tables(connection: "BaseDatabaseWrapper") -> bool:
    """Return whether a database has any table."""
    return bool(connection.introspection.table_names())
