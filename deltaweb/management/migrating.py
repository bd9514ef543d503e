"""The steps around migrations: a copy of the database, and limits on PostgreSQL."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections
from django.db.migrations.executor import MigrationExecutor

from apps.pages.command import Error

LOCK_TIMEOUT_S: Final = 10  # of each statement: a queue behind it stops every page
SCHEMA_TIMEOUT_S: Final = 900  # of a change of the schema; an index takes minutes
LOCK_NOT_AVAILABLE: Final = "55P03"  # of PostgreSQL
_SCHEMA_CHANGE: Final = re.compile(r"\s*(ALTER|CREATE|DROP)\b", re.IGNORECASE)


def before_migration(home: Path, now: datetime) -> Path | None:
    """Copy a database for which migrations are due; return the path of the copy.

    A new database has nothing to keep. The copy of a PostgreSQL database is a backup
    without the secret key; it is encrypted if the variable of the passphrase is set.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    executor = MigrationExecutor(connection)
    pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if not pending or not executor.loader.applied_migrations:
        return None
    is_sqlite = connection.vendor == "sqlite"
    suffix = "sqlite3" if is_sqlite else "backup"
    copy = home / "backups" / f"deltaweb-{now:%Y%m%dT%H%M%S}.{suffix}"
    copy.parent.mkdir(mode=0o700, exist_ok=True)
    if is_sqlite:
        connection.ensure_connection()
        with closing(sqlite3.connect(copy)) as target:
            connection.connection.backup(target)
    else:
        # It loads what encrypts, which a start on SQLite does not need.
        from deltaweb.management.backups.writing import write_backup  # noqa: PLC0415

        passphrase = settings.BACKUP_PASSPHRASE or None
        write_backup(copy, passphrase=passphrase, now=now, with_keys=False)
    return copy


@contextmanager
def limited_migrations() -> Iterator[None]:
    """Let statements of migrations on PostgreSQL wait for locks and run only so long.

    Moves of data have no limit of time, because they block no other process.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor != "postgresql":
        yield
        return

    def limit(
        execute: Callable[..., Any],
        sql: str,
        params: Any,  # noqa: ANN401 (of Django)
        many: bool,  # noqa: FBT001 (as above)
        context: Any,  # noqa: ANN401 (as above)
    ) -> Any:  # noqa: ANN401 (as above)
        is_change = _SCHEMA_CHANGE.match(str(sql))
        with schema_timeout() if is_change else nullcontext():
            return execute(sql, params, many, context)

    @contextmanager
    def schema_timeout() -> Iterator[None]:
        _set("statement_timeout", SCHEMA_TIMEOUT_S)
        yield  # a statement that failed takes its setting along
        _set("statement_timeout", 0)

    def _set(name: str, seconds: int) -> None:
        connection.connection.execute(f"SET {name} = '{seconds}s'")

    connection.ensure_connection()
    _set("lock_timeout", LOCK_TIMEOUT_S)
    try:
        with connection.execute_wrapper(limit):
            yield
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", "") != LOCK_NOT_AVAILABLE:
            raise
        message = (
            f"A migration waited {LOCK_TIMEOUT_S} s for a lock that another program"
            " holds, and was rolled back. Run 'deltaweb migrate' again; if that fails"
            " too, stop the servers first."
        )
        raise Error(message) from error
    _set("lock_timeout", 0)
