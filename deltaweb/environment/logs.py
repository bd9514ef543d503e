"""What logs hold, and what they may not: secrets of links, lines of somebody else."""

import json
import logging
import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final

STORE_DRIVERS: Final = (
    *("aiobotocore", "azure", "botocore", "fsspec", "gcsfs", "google", "msal"),
    *("s3fs", "urllib3"),
)
"""They tell at DEBUG what they send: tokens, signed URLs; and at INFO where they found
their credentials, at each start of a process."""
_ONE_TIME_LINK = re.compile(r"(/(?:sign-in|activate|confirm-address)/)[^/\s?'\"]+")
_OF_LINKS: Final = ("/sign-in/", "/activate/", "/confirm-address/")
request_id: Final[ContextVar[str]] = ContextVar("request_id", default="")
"""The id of the request that is answered, or that asked for the job that runs."""
job_id: Final[ContextVar[str]] = ContextVar("job_id", default="")
"""The id of the job that runs."""


def new_request_id() -> str:
    """Return a new id, for scheduled work or for a request without an id."""
    return uuid.uuid4().hex[:12]


def requested_by_id() -> str:
    """Return the id of the current request, or a new id outside of a request."""
    return request_id.get() or new_request_id()


@contextmanager
def named_in_lines(*, request: str = "", job: str = "") -> Iterator[None]:
    """Give the lines of a block the ids of a request and a job.

    An id that is left out is not changed.
    """
    tokens = [
        (one, one.set(value))
        for one, value in ((request_id, request), (job_id, job))
        if value
    ]
    try:
        yield
    finally:
        for one, token in reversed(tokens):
            one.reset(token)


def ids_of_lines() -> dict[str, str]:
    """Return the ids that lines have here: `request` and `job`, if there is one."""
    ids = {"request": request_id.get(), "job": job_id.get()}
    return {name: value for name, value in ids.items() if value}


def _ids_of(record: logging.LogRecord) -> dict[str, str]:
    """Return the ids of a line; Django writes some after its request has ended."""
    ended = getattr(getattr(record, "request", None), "id", "")
    return ({"request": ended} if ended else {}) | ids_of_lines()


class HideSignInLinks(logging.Filter):
    """Cuts the secret out of one-time links: a log outlives and outreaches it."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record's message; every record passes."""
        message = record.getMessage()
        if any(part in message for part in _OF_LINKS):
            record.msg = _ONE_TIME_LINK.sub(r"\1...", message)
            record.args = None
        return True


class KeepOneLine(logging.Filter):
    """Writes out what does not print: a name in a request must not forge a line."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record's message; every record passes, its traceback as is."""
        message = record.getMessage()
        if not message.isprintable():
            record.msg = "".join(map(_printable, message))
            record.args = None
        return True


class DropTraceback(logging.Filter):
    """Leaves the message alone: where it was raised is known, and anybody can ask."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record; every record passes."""
        record.exc_info = record.exc_text = None
        return True


class TextLines(logging.Formatter):
    """Writes a record for people; its first line ends with the ids that it has."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}: {message}", style="{")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (logging's)
        """Return the first line."""
        ids = "".join(f" {name}={value}" for name, value in _ids_of(record).items())
        return super().formatMessage(record) + ids


class JSONLines(logging.Formatter):
    """Writes each record as one JSON object in one line.

    Keys: time (UTC), level, logger, message, process; request and job if there is one;
    exception with its traceback; and the keys of `extra={"facts": {...}}`.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        at = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, object] = {
            "time": at.isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": os.getpid(),
        }
        line.update(_ids_of(record))
        for name, value in getattr(record, "facts", {}).items():
            is_text = isinstance(value, str)
            line[name] = _ONE_TIME_LINK.sub(r"\1...", value) if is_text else value
        if record.exc_info:
            trace = self.formatException(record.exc_info)
            line["exception"] = _ONE_TIME_LINK.sub(r"\1...", trace)
        return json.dumps(line, default=str)


def _printable(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]


def log_settings(level: str, *, log_format: str, access: bool) -> dict[str, Any]:
    """Return what Django configures logs by.

    Args:
        level: Such as `INFO`.
        log_format: `text` or `json`.
        access: Whether each request has a line.
    """
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "text": {"()": "deltaweb.environment.logs.TextLines"},
            "json": {"()": "deltaweb.environment.logs.JSONLines"},
        },
        "filters": {
            "no-links": {"()": "deltaweb.environment.logs.HideSignInLinks"},
            "outages": {"()": "deltaweb.environment.outages.DropOutageLines"},
            "one-line": {"()": "deltaweb.environment.logs.KeepOneLine"},
            "no-traceback": {"()": "deltaweb.environment.logs.DropTraceback"},
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": log_format,
                "filters": ["outages", "no-links", "one-line"],
            }
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "deltaweb.access": {"level": "INFO" if access else "CRITICAL"},
            # It writes two lines of each task.
            "celery": {"level": "INFO" if level == "DEBUG" else "WARNING"},
            "django.security.DisallowedHost": {"filters": ["no-traceback"]},
            **{
                one: {"level": "INFO" if level == "DEBUG" else "WARNING"}
                for one in STORE_DRIVERS
            },
            # It tells at WARNING at which URL headers did not read; that may be signed.
            "urllib3.connection": {"level": "ERROR"},
        },
    }
