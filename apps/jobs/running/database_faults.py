"""A database that is locked, stopped or starting again: what it raises, and waiting.

What a worker has found out is too dear to be lost to that.
"""

import logging
import time
from collections.abc import Callable
from typing import Final, TypeVar

from django.db import InterfaceError, OperationalError, connection

from deltaweb.environment.outages import lost_database

logger = logging.getLogger(__name__)

T = TypeVar("T")

DATABASE_FAULTS: Final = (OperationalError, InterfaceError)
ATTEMPTS: Final = 8  # half a minute


def persistently(write: Callable[[], T]) -> T:
    """Do what may be done twice until the database takes it, for half a minute."""
    for attempt in range(1, ATTEMPTS):
        try:
            return write()
        except DATABASE_FAULTS as error:
            logger.warning(
                "The database took nothing at attempt %d: %s",
                attempt,
                str(error).partition("\n")[0],
                exc_info=lost_database(error),
            )
            let_go()
            time.sleep(attempt)
    return write()


def let_go() -> None:
    """Drop a connection that may be broken; the next query makes another."""
    if not connection.in_atomic_block:
        connection.close()
