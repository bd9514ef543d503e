"""One line when a part that the server needs stops answering, and one when it answers.

Without it, each request and each task would write its own lines while a database or
broker is down, which hides everything else. Each process keeps what it knows:

    outages.began("mail relay", str(error))
    outages.ended("mail relay")

Lines of libraries that say the same are recognised by `DropOutageLines`.
"""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from django.db.utils import InterfaceError, OperationalError

logger = logging.getLogger("deltaweb.outages")

DATABASE: Final = "database"
BROKER: Final = "broker"
MAIL: Final = "mail relay"
PROVIDER: Final = "sign-on provider"
MAX_REASON: Final = 300
MAX_CAUSES: Final = 10
FIRST_BROKEN: Final = 500
_BROKER_LOGGERS: Final = frozenset({"celery.beat", "celery.worker.consumer.consumer"})
_LOST_BROKER: Final = (
    "consumer: Cannot connect",
    "consumer: Connection to broker lost",
    "beat: Connection error",
)
_LOST_STATES: Final = ("08", "57P", "53300")
"""Of SQLSTATE: no connection, a server that stops, too many connections."""
_CLOSED: Final = "connection is closed", "connection already closed"


class Outages:
    """The parts that do not answer this process, and since when."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began_s: dict[str, float] = {}
        self._lock = threading.Lock()

    def is_on(self, part: str) -> bool:
        """Whether a part did not answer the last time."""
        return part in self._began_s

    def began(self, part: str, reason: str) -> None:
        """Note that a part did not answer; the first time writes a line."""
        with self._lock:
            if part in self._began_s:
                return
            self._began_s[part] = self._clock()
        facts = {"part": part, "outage": "began"}
        reason = " ".join(reason.split())[:MAX_REASON].rstrip(".")
        says = "The %s does not answer: %s. It is logged again when it answers."
        logger.error(says, part, reason, extra={"facts": facts})

    def ended(self, part: str) -> None:
        """Note that a part answered; after an outage, this writes a line."""
        if part not in self._began_s:
            return  # the usual case, which takes no lock
        with self._lock:
            began_s = self._began_s.pop(part, None)
        if began_s is None:
            return
        took_s = round(self._clock() - began_s, 1)
        facts = {"part": part, "outage": "ended", "duration_s": took_s}
        logger.warning(
            "The %s answers again after %s s.", part, took_s, extra={"facts": facts}
        )


outages: Final = Outages()


class DropOutageLines(logging.Filter):
    """Turns lines about a lost database or broker into the one line of an outage."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record passes."""
        if record.name == logger.name:
            return True
        error = record.exc_info[1] if record.exc_info else None
        if (lost := lost_database(error)) is not None:
            outages.began(DATABASE, str(lost))
            return False
        if record.name in _BROKER_LOGGERS and is_lost_broker(record, error):
            outages.began(BROKER, str(error or "its connection was lost"))
            return False
        return not (is_answer_without_cause(record) and outages.is_on(DATABASE))


def is_answer_without_cause(record: logging.LogRecord) -> bool:
    """Whether a line reports an answer of 500 or more without its cause."""
    is_broken = getattr(record, "status_code", 0) >= FIRST_BROKEN
    return record.name == "django.request" and is_broken and not record.exc_info


def lost_database(error: BaseException | None) -> BaseException | None:
    """Return the cause of an error that says that the database does not answer."""
    return next(filter(is_lost_database, causes(error)), None)


def is_lost_database(error: BaseException) -> bool:
    """Whether an error of Django says that there is no connection to the database."""
    cause: Any = error.__cause__
    if isinstance(error, InterfaceError):
        return any(one in str(error) for one in _CLOSED)
    if not isinstance(error, OperationalError):
        return False
    if isinstance(cause, sqlite3.Error):
        # Its lowest byte is the kind of error.
        return cause.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CANTOPEN
    state = getattr(cause, "sqlstate", None)
    return state is None or str(state).startswith(_LOST_STATES)


def is_lost_broker(record: logging.LogRecord, error: BaseException | None) -> bool:
    """Whether a line of Celery says that there is no connection to the broker."""
    names = {type(one).__name__ for one in causes(error)}
    return record.getMessage().startswith(_LOST_BROKER) or "ConnectionError" in names


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes, the newest first."""
    for _ in range(MAX_CAUSES):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__
