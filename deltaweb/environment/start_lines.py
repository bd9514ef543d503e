"""The line that a worker or the clock writes when it starts."""

import logging
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

logger = logging.getLogger("deltaweb.start")
SQLITE: Final = "django.db.backends.sqlite3"


def started(
    process: str,
    *,
    version: str,
    database: Mapping[str, Any],
    broker: str,
    work: Mapping[str, object] | None = None,
) -> None:
    """Write a line about a process that starts, and what it uses, without secrets.

    Args:
        process: What starts, such as `worker`.
        database: The settings of Django's connection.
        broker: The URL of the broker.
        work: What a worker does: `queues`, and `concurrency` (jobs at a time).
    """
    facts: dict[str, object] = {
        "start": process,
        "version": version,
        "database": place_of_database(database),
        "broker": place_of_broker(broker),
    }
    said = "The {start} starts: deltaweb {version}, {database}, {broker}"
    if work:
        facts |= work
        said += ", {concurrency} jobs at a time of {queues}"
    logger.info("%s.", said.format(**facts), extra={"facts": facts})


def place_of_database(database: Mapping[str, Any]) -> str:
    """Return where a database is, without its user and password."""
    if database["ENGINE"] == SQLITE:
        return f"sqlite:///{database['NAME']}"
    host, port = database.get("HOST") or "localhost", database.get("PORT")
    place = f"{host}:{port}" if port else host
    return f"postgresql://{place}/{database['NAME']}"


def place_of_broker(url: str) -> str:
    """Return the URL of a broker without its user, password and options."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
