"""Renewing a lease in a thread, for as long as its holder works."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from deltaweb.environment.outages import lost_database

logger = logging.getLogger(__name__)

RENEWALS: Final = 3  # of a lease before it runs out
STOP_TIMEOUT_S: Final = 5


@contextmanager
def renewing(renew: Callable[[], bool], *, name: str) -> Iterator[None]:
    """Renew a lease of `DELTAWEB_JOB_LEASE_S` for as long as the block runs.

    Args:
        renew: Writes the new end of the lease; false stops the renewals.
        name: What the lease is for, in the log.
    """
    stop = threading.Event()
    thread = threading.Thread(
        target=_renew, args=(renew, stop, name), name=f"lease-{name}", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(timeout=STOP_TIMEOUT_S)


def _renew(renew: Callable[[], bool], stop: threading.Event, name: str) -> None:
    interval_s = settings.JOB_LEASE_S / RENEWALS
    try:
        while not stop.wait(interval_s):
            try:
                if not renew():
                    return
            except (DatabaseError, InterfaceError) as error:
                lost = lost_database(error)
                logger.warning("The lease of %s was not renewed.", name, exc_info=lost)
                connection.close()
    finally:
        connection.close()
