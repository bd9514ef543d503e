"""A damaged SQLite file: a restore renames it and keeps it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from django.db import DEFAULT_DB_ALIAS, connections

from apps.pages.first_use import embedded_file
from deltaweb.management.backups.errors import DatabaseDamagedError

DAMAGED: Final = frozenset({"SQLITE_CORRUPT", "SQLITE_NOTADB"})
BESIDE: Final = ("", "-wal", "-shm")  # the file, and those of its last transactions
SOUND: Final = "ok"


def damage_of(file: Path) -> str | None:
    """Return what SQLite says about a damaged file; None for a sound or absent one."""
    if not file.exists():
        return None
    try:
        with closing(sqlite3.connect(file, timeout=60)) as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorname.partition("_VTAB")[0] in DAMAGED:
            return str(error)
        raise
    return None if found == SOUND else str(found).strip().rpartition("\n")[2]


@contextmanager
def damage_set_aside(*, replace: bool) -> Iterator[Path | None]:
    """Rename a damaged SQLite file, and name it back if the block fails.

    Yields:
        Where the file is kept; None if there is no damage.

    Raises:
        DatabaseDamagedError: If it may not be replaced.
    """
    live = embedded_file()
    problem = None if live is None else damage_of(live)
    if live is None or problem is None:
        yield None
        return
    if not replace:
        raise DatabaseDamagedError(file=str(live), problem=problem)
    connections[DEFAULT_DB_ALIAS].close()
    number, kept = 1, live.with_name(f"{live.name}.damaged")
    while kept.exists():
        number += 1
        kept = live.with_name(f"{live.name}.damaged-{number}")
    _rename(live, kept)
    try:
        yield kept
    except BaseException:
        connections[DEFAULT_DB_ALIAS].close()
        _rename(kept, live)
        raise


def _rename(old: Path, new: Path) -> None:
    for end in BESIDE:
        there = new.with_name(new.name + end)
        there.unlink(missing_ok=True)
        source = old.with_name(old.name + end)
        if source.exists():
            source.rename(there)
