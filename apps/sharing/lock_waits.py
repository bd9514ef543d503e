"""How long a request may wait for a database that somebody else is writing to."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


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
