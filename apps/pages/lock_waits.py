"""How long a request may wait for a database that somebody else is writing to."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from django.db import OperationalError, connection, transaction

logger = logging.getLogger(__name__)

NOTE_WAIT_MS: Final = 50  # for a locked SQLite database, for a note


@contextmanager
def short_wait(longest_ms: int) -> Iterator[None]:
    """Wait for a locked SQLite database no longer than so; others lock rows alone."""
    if connection.vendor != "sqlite":
        yield
        return
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
        write: Writes it, in a transaction of its own.
        of: What it is a note of, for the log.
    """
    try:
        with short_wait(NOTE_WAIT_MS), transaction.atomic():
            write()
    except OperationalError as error:
        logger.info("%s was not noted: %s", of, error)
