"""A copy of the embedded database before its schema changes."""

import sqlite3
from datetime import datetime
from pathlib import Path

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor


def before_migration(home: Path, now: datetime) -> Path | None:
    """Copy the SQLite file where migrations are due; return the copy's path.

    Another database has its own backups, and a new one has nothing to keep.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor != "sqlite":
        return None
    executor = MigrationExecutor(connection)
    pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if not pending or not executor.loader.applied_migrations:
        return None
    copy = home / "backups" / f"deltaweb-{now:%Y%m%dT%H%M%S}.sqlite3"
    copy.parent.mkdir(mode=0o700, exist_ok=True)
    connection.ensure_connection()
    target = sqlite3.connect(copy)
    try:
        connection.connection.backup(target)
    finally:
        target.close()
    return copy
