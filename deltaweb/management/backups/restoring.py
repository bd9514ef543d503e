"""Restore a backup into the database of the settings: all of it, or nothing.

PostgreSQL does everything in one transaction. SQLite gets another file, whose pages
replace those of the database in one transaction at the end. A process that is killed
leaves the former state.
"""

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.color import no_style
from django.db import DEFAULT_DB_ALIAS, Error, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor

from apps.operate.models import Restoration
from apps.pages.actions import Stamp
from apps.pages.first_use import embedded_file, has_tables, locked_for_migration
from deltaweb.management.backups.damage import damage_set_aside
from deltaweb.management.backups.errors import (
    BackupNewerError,
    DatabaseNotEmptyError,
    RowNotRestoredError,
)
from deltaweb.management.backups.lines import BackupHead, LineReader, Row
from deltaweb.management.backups.restored import taken_over
from deltaweb.management.backups.rows import (
    NOT_KEPT,
    applied,
    fields_of,
    from_json_value,
    last_of,
    models_at,
)
from deltaweb.management.backups.sealed import Passphrase
from deltaweb.management.backups.writing import connected_to
from deltaweb.management.first_start import SAMPLES_MARKER

BATCH: Final = 500
OF_EVERY_DATABASE: Final = frozenset(
    {"contenttypes.contenttype", "auth.permission", "notices.eventsequence"}
)
"""Models that migrations fill themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A restored backup.

    Attributes:
        counts: The number of rows by model.
        damaged: The new path of a damaged SQLite file; None if it was sound.
    """

    head: BackupHead
    counts: dict[str, int]
    restoration: Restoration
    damaged: Path | None


def restore_backup(
    file: Path, *, passphrase: Passphrase, replace: bool, stamp: Stamp
) -> Restored:
    """Check a backup to its end, then put it in place of the database.

    Args:
        replace: Whether a database that is in use is replaced.

    Raises:
        BackupError: Nothing was changed.
    """
    with file.open("rb") as opened:
        given: list[str] = []

        def once() -> str:
            given[:] = given or [passphrase()]
            return given[0]

        _reader(opened, file, once)  # asks for the passphrase before the lock
        connection = connections[DEFAULT_DB_ALIAS]
        with locked_for_migration(), damage_set_aside(replace=replace) as damaged:
            _check(_reader(opened, file, once), file)
            if not replace:
                check_empty(connection)
            with _place(connection):
                lines = _reader(opened, file, once)
                counts = _load(connection, lines, file)
                restoration = taken_over(lines.head, stamp=stamp)
    if lines.head.had_samples:
        (settings.HOME / SAMPLES_MARKER).touch(mode=0o600)
    return Restored(
        head=lines.head, counts=counts, restoration=restoration, damaged=damaged
    )


def _reader(opened: IO[bytes], file: Path, passphrase: Passphrase) -> LineReader:
    opened.seek(0)
    size_bytes = os.fstat(opened.fileno()).st_size
    return LineReader(opened, str(file), size_bytes, passphrase)


def _check(lines: LineReader, file: Path) -> None:
    """Read a backup to its end and compare it with what this version knows."""
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    targets = _targets(executor, lines.head, file)
    known = models_at(executor, targets)
    for label, fields, rows in lines.models():
        model = known.get(label)
        if model is None or [one.attname for one in fields_of(model)] != fields:
            raise lines.damaged(problem=f"{label:.80} does not fit its migrations")
        for _ in rows:
            pass


def _targets(
    executor: MigrationExecutor, head: BackupHead, file: Path
) -> list[tuple[str, str]]:
    having = [(app, name) for app, name in head.migrations]
    known = executor.loader.graph.nodes
    replaced = {
        old for one in executor.loader.disk_migrations.values() for old in one.replaces
    }
    for key in having:
        if key not in known and key not in replaced:
            raise BackupNewerError(
                file=str(file), made_by=head.made_by, migration=".".join(key)
            )
    return last_of(executor, having)


def check_empty(connection: BaseDatabaseWrapper) -> None:
    """Refuse a database that is in use.

    One that was only migrated is not.
    """
    if not is_there(connection) or not has_tables(connection):
        return
    executor = MigrationExecutor(connection)
    targets = last_of(executor, applied(executor))
    present = set(connection.introspection.table_names())
    for label, model in models_at(executor, targets).items():
        if label in OF_EVERY_DATABASE or model._meta.db_table not in present:  # noqa: SLF001 (public)
            continue
        count = model._base_manager.count()  # noqa: SLF001 (as above)
        if count:
            raise DatabaseNotEmptyError(model=label, count=count)


def is_there(connection: BaseDatabaseWrapper) -> bool:
    """Return whether there is a database; a look at it would create an empty file."""
    del connection
    file = embedded_file()
    return file is None or file.exists()


# === Where it is built ===


@contextmanager
def _place(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Build an empty database, which replaces the present one when the block ends."""
    if connection.vendor != "sqlite":
        with transaction.atomic():
            _drop_tables(connection)
            yield
        return
    live = Path(connection.settings_dict["NAME"])
    with tempfile.TemporaryDirectory(dir=live.parent, prefix="restore-") as folder:
        built = Path(folder) / "built.sqlite3"
        with connected_to(connection, built):
            yield
        with closing(sqlite3.connect(built)) as source:
            source.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            live.touch(mode=0o600)
            live.chmod(0o600)  # before a secret is in it
            with closing(sqlite3.connect(live, timeout=60)) as target:
                source.backup(target)  # all pages in one transaction


def _drop_tables(connection: BaseDatabaseWrapper) -> None:
    """Drop the tables of this application and of no other."""
    executor = MigrationExecutor(connection)
    apps = {app for app, _ in executor.loader.disk_migrations}
    own = [
        name
        for name in connection.introspection.table_names()
        if name.partition("_")[0] in apps or name.startswith("django_")
    ]
    with connection.cursor() as cursor:
        for name in own:
            quoted = connection.ops.quote_name(name)
            cursor.execute(f"DROP TABLE {quoted} CASCADE")


# === Rows ===


def _load(
    connection: BaseDatabaseWrapper, lines: LineReader, file: Path
) -> dict[str, int]:
    """Migrate to the backup's state, load its rows, and migrate to today."""
    executor = MigrationExecutor(connection)
    targets = _targets(executor, lines.head, file)
    executor.migrate(targets)
    executor = MigrationExecutor(connection)
    models = models_at(executor, targets)
    counts = {}
    with transaction.atomic():
        _set_constraints(connection, "DEFERRED")  # rows come in any order
        for label in OF_EVERY_DATABASE & models.keys():
            models[label]._base_manager.all().delete()  # noqa: SLF001 (public)
        for label, names, rows in lines.models():
            if label in NOT_KEPT or label not in models:
                raise lines.damaged(problem=f"{label:.80} cannot be restored")
            counts[label] = _load_rows(connection, models[label], names, rows)
        _check_references(connection)
    with connection.cursor() as cursor:
        for sql in connection.ops.sequence_reset_sql(no_style(), [*models.values()]):
            cursor.execute(sql)
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())
    return counts


def _load_rows(
    connection: BaseDatabaseWrapper,
    model: Any,  # noqa: ANN401 (a historical model)
    names: list[str],
    rows: Iterator[Row],
) -> int:
    fields = {field.attname: field for field in fields_of(model)}
    ordered = [fields[name] for name in names]
    count = 0
    try:
        while batch := list(islice(rows, BATCH)):
            made = [
                model(
                    **{
                        field.attname: from_json_value(field, value, connection)
                        for field, value in zip(ordered, row, strict=True)
                    }
                )
                for row in batch
            ]
            model._base_manager.bulk_create(made)  # noqa: SLF001 (public)
            count += len(batch)
    except (Error, ValidationError, ValueError, TypeError) as error:
        problem = str(error).partition("\n")[0]
        label = model._meta.label_lower  # noqa: SLF001 (as above)
        raise RowNotRestoredError(model=label, problem=problem) from error
    return count


def _check_references(connection: BaseDatabaseWrapper) -> None:
    """Check foreign keys now: PostgreSQL alters no table with checks to come."""
    try:
        connection.check_constraints()
    except Error as error:
        problem = str(error).partition("\n")[0]
        raise RowNotRestoredError(model="a reference", problem=problem) from error
    _set_constraints(connection, "IMMEDIATE")


def _set_constraints(connection: BaseDatabaseWrapper, when: str) -> None:
    """Say when PostgreSQL checks foreign keys of this transaction.

    Migrations that ran in it have set some of them to IMMEDIATE.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SET CONSTRAINTS ALL {when}")
