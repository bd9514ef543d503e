"""Write a backup while the server runs."""

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor

from deltaweb.management.backups.errors import BackupExistsError, DatabaseNewerError
from deltaweb.management.backups.lines import LineWriter
from deltaweb.management.backups.rows import (
    NOT_KEPT,
    applied,
    fields_of,
    last_of,
    models_at,
    read_rows,
)
from deltaweb.management.first_start import SAMPLES_MARKER
from deltaweb.version import VERSION

OF_OWNER: Final = 0o600
REPEATABLE: Final = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"


def write_backup(
    file: Path, *, passphrase: str | None, now: datetime, with_keys: bool = True
) -> dict[str, int]:
    """Write one consistent state of the database, and the secret key.

    The file is there only once it is complete.

    Args:
        passphrase: None for a file that is not encrypted.
        with_keys: Whether it holds the secret keys of this server.

    Returns:
        The number of rows by model.
    """
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS] if with_keys else []
    if file.exists():
        raise BackupExistsError(file=str(file))
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OF_OWNER)
        with os.fdopen(opened, "wb") as target:
            counts = _write(LineWriter(target, passphrase), now, keys)
            target.flush()
            os.fsync(target.fileno())
        try:
            os.link(part, file)  # fails if another process has made it meanwhile
        except FileExistsError as error:
            raise BackupExistsError(file=str(file)) from error
    finally:
        part.unlink(missing_ok=True)
    return counts


def _write(lines: LineWriter, now: datetime, keys: list[str]) -> dict[str, int]:
    with unchanging_database() as connection:
        executor = MigrationExecutor(connection)
        having = applied(executor)
        check_known(executor, having)
        lines.put(
            {
                "made_by": VERSION,
                "made_at": now.isoformat(),
                "engine": connection.vendor,
                "migrations": having,
                "secret_keys": keys,
                "had_samples": (settings.HOME / SAMPLES_MARKER).exists(),
            }
        )
        for label, model in models_at(executor, last_of(executor, having)).items():
            if label in NOT_KEPT:
                continue
            lines.begin(label, [field.attname for field in fields_of(model)])
            for row in read_rows(model):
                lines.row(row)
        return lines.close()


def check_known(executor: MigrationExecutor, having: list[tuple[str, str]]) -> None:
    """Refuse a database of a newer version."""
    known = executor.loader.disk_migrations
    replaced = {old for one in known.values() for old in one.replaces}
    ours = {app for app, _ in known}
    for key in having:
        if key[0] in ours and key not in known and key not in replaced:
            raise DatabaseNewerError(migration=".".join(key))


@contextmanager
def unchanging_database() -> Iterator[BaseDatabaseWrapper]:
    """Let the default connection read one state while others write."""
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor != "sqlite":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(REPEATABLE)
            yield connection
        return
    # A long read would keep the log of SQLite growing, and a writer waiting.
    with tempfile.TemporaryDirectory(dir=settings.HOME, prefix="backup-") as folder:
        copy = Path(folder) / "copy.sqlite3"
        connection.ensure_connection()
        with closing(sqlite3.connect(copy)) as target:
            connection.connection.backup(target)
        with connected_to(connection, copy):
            yield connection


@contextmanager
def connected_to(connection: BaseDatabaseWrapper, file: Path) -> Iterator[None]:
    """Let a connection of SQLite be one to another file."""
    former = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = str(file)
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = former
