"""News by PostgreSQL: a notification is heard by every process of every machine.

Source: PostgreSQL documentation, NOTIFY: it comes once its transaction has committed,
and holds less than 8,000 bytes.
"""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, Final

from django.db import connection

NAME: Final = "deltaweb_news"
_MAX_TOPICS: Final = 100  # of one notification; none has more than 60 bytes


class PostgresChannel:
    """News by the database of the installation."""

    def load(self) -> None:
        """Import nothing: all is there."""

    def send(self, topics: Sequence[str]) -> None:
        """Notify."""
        with connection.cursor() as cursor:
            for begin in range(0, len(topics), _MAX_TOPICS):
                text = "\n".join(topics[begin : begin + _MAX_TOPICS])
                cursor.execute("SELECT pg_notify(%s, %s)", [NAME, text])

    @contextlib.contextmanager
    def listening(self) -> "Iterator[PostgresListener]":
        """Listen on a connection of its own, until the block ends."""
        own = connection.copy()
        own.ensure_connection()
        try:
            with own.cursor() as cursor:
                cursor.execute(f"LISTEN {NAME}")
            yield PostgresListener(own)
        finally:
            own.close()


class PostgresListener:
    """A connection that hears notifications."""

    def __init__(self, own: Any) -> None:  # noqa: ANN401 (Django's wrapper)
        self._own = own

    def hear(self, timeout_s: float) -> Sequence[str]:
        """Return topics that were notified of, none when the time is over."""
        found: list[str] = []
        for news in self._own.connection.notifies(timeout=timeout_s, stop_after=1):
            found += news.payload.split()
        return found

    def check(self) -> None:
        """Find out whether the database answers."""
        with self._own.cursor() as cursor:
            cursor.execute("SELECT 1")
