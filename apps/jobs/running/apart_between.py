"""What a process of jobs does before the first, between two, and while none comes."""

import contextlib
import ctypes
import gc
import logging
from importlib import import_module
from typing import Final

import pyarrow as pa
from django.db import connection

from apps.jobs.running.database_faults import DATABASE_FAULTS
from deltaweb.delta.snapshot.kept import kept
from deltaweb.environment.memory import own_bytes
from deltaweb.errors import DeltawebError
from deltaweb.storage.remote_file import kept_parts

logger = logging.getLogger(__name__)

MUCH_BYTES: Final = 256 << 20
# Of the apps above: what takes a while when a job first needs it.
PREPARATIONS: Final = ("apps.tables.storage.drivers:load_used",)


def make_ready() -> None:
    """Do beforehand what the first job would wait for."""
    # The connection stays while no job comes; whether it still works is asked then.
    connection.settings_dict["CONN_MAX_AGE"] = None
    kept.begin()
    kept_parts.begin()
    with contextlib.suppress(*DATABASE_FAULTS):
        connection.ensure_connection()
        for name in PREPARATIONS:
            module, _, function = name.partition(":")
            try:
                getattr(import_module(module), function)()
            except DeltawebError as error:  # a job that needs it says so
                logger.info("%s: %s", name, error.message)


def before_job() -> None:
    """Have a connection to the database that works."""
    connection.close_if_unusable_or_obsolete()


def after_job() -> None:
    """Give back what a large job has taken."""
    if own_bytes() > MUCH_BYTES:
        _release()


def let_go() -> None:
    """Keep nothing: nobody has asked for a while."""
    kept.forget()
    kept_parts.forget()
    connection.close()
    _release()


def _release() -> None:
    """Give memory back that nothing is in any more."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    with contextlib.suppress(AttributeError, OSError):  # of glibc alone
        ctypes.CDLL(None).malloc_trim(0)
