"""How long a request may wait for a database that somebody else is writing to.

A web process has few threads: were each to wait as long as a worker may, a few who
write would keep everybody from reading. All that it writes waits `REQUEST_WAIT_MS`,
which its connections are told when they are opened; a note waits shorter still.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from django.db import OperationalError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

logger = logging.getLogger(__name__)

REQUEST_WAIT_MS: Final = 2000  # for those who write, for anything that a page writes
NOTE_WAIT_MS: Final = 50  # for a note


def wait_shortly() -> None:
    """Let no connection that this process opens wait longer than a request may."""
    connection_created.connect(_limit_wait, dispatch_uid="lock-waits")


def _limit_wait(connection: BaseDatabaseWrapper, **_: object) -> None:
    if connection.vendor == "sqlite":
        statement = f"PRAGMA busy_timeout = {REQUEST_WAIT_MS}"
    elif connection.vendor == "postgresql":
        statement = f"SET lock_timeout = {REQUEST_WAIT_MS}"
    else:
        return
    with connection.cursor() as cursor:
        cursor.execute(statement)


@contextmanager
def short_transaction(longest_ms: int) -> Iterator[None]:
    """Open a transaction that waits for others who write no longer than so.

    They hold all of a SQLite database, and of others the rows that they change.
    """
    if connection.vendor == "sqlite":
        with _short_busy_timeout(longest_ms), transaction.atomic():
            yield
        return
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL lock_timeout = {int(longest_ms)}")
        yield


@contextmanager
def _short_busy_timeout(longest_ms: int) -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        (usual_ms,) = cursor.fetchone()
        cursor.execute(f"PRAGMA busy_timeout = {int(longest_ms)}")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {int(usual_ms)}")


def write_note(write: Callable[[], object], *, of: str) -> None:
    """Write what is good to know and no more, such as when a key was last used.

    A database that is busy costs a request a moment and the note, never the answer.

    Args:
        of: What it is a note of, for the log.
    """
    try:
        with short_transaction(NOTE_WAIT_MS):
            write()
    except OperationalError as error:
        logger.info("%s was not noted: %s", of, error)
