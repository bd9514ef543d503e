"""An outage has one line when it begins and one when it ends, in text and JSON."""

import json
import logging
import sqlite3

import pytest
from django.db import InterfaceError, OperationalError, ProgrammingError
from kombu.exceptions import OperationalError as BrokerError

from deltaweb.environment import logs
from deltaweb.environment.outages import (
    BROKER,
    DATABASE,
    DropOutageLines,
    Outages,
    lost_database,
    outages,
)
from tests.support import cases


@pytest.fixture(autouse=True)
def _no_outage():
    yield
    outages.ended(DATABASE)
    outages.ended(BROKER)


LATER = "It is logged again when it answers."


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


class ServerError(Exception):
    """An error as psycopg raises it."""

    def __init__(self, sqlstate: str | None) -> None:
        super().__init__("server closed the connection")
        self.sqlstate = sqlstate


def raised(error: Exception, cause: Exception | None = None) -> Exception:
    try:
        raise error from cause
    except type(error) as found:
        return found


def opening_error() -> Exception:
    try:
        sqlite3.connect("/nonexistent/place/x.sqlite3")
    except sqlite3.OperationalError as error:
        return error
    raise AssertionError


def record(error: Exception | None, name: str = "django.request", said: str = "x"):
    info = None if error is None else (type(error), error, error.__traceback__)
    return logging.LogRecord(name, logging.ERROR, "", 1, said, (), info)


def test_two_lines_tell_of_many_failures(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    known = Outages(clock)

    caplog.set_level(logging.WARNING, "deltaweb.outages")
    for _ in range(3):
        known.began("mail relay", "Connection\nrefused.")
    clock.now_s += 42.25
    for _ in range(3):
        known.ended("mail relay")

    assert [one.getMessage() for one in caplog.records] == [
        f"The mail relay does not answer: Connection refused. {LATER}",
        "The mail relay answers again after 42.2 s.",
    ]
    lines = [json.loads(logs.JSONLines().format(one)) for one in caplog.records]
    assert [(one["part"], one["outage"]) for one in lines] == [
        ("mail relay", "began"),
        ("mail relay", "ended"),
    ]
    assert lines[1]["duration_s"] == 42.2


@cases(
    "error, is_lost",
    {
        "no connection": (raised(OperationalError(), ServerError(None)), True),
        "a server that stops": (raised(OperationalError(), ServerError("57P01")), True),
        "a deadlock": (raised(OperationalError(), ServerError("40P01")), False),
        "a slow statement": (raised(OperationalError(), ServerError("57014")), False),
        "a closed one": (InterfaceError("connection already closed"), True),
        "a closed cursor": (InterfaceError("cursor already closed"), False),
        "no file": (raised(OperationalError(), opening_error()), True),
        "other SQL": (ProgrammingError("no such table"), False),
        "within another": (
            raised(ValueError(), raised(OperationalError(), ServerError("08006"))),
            True,
        ),
    },
)
def test_a_lost_database_is_told_from_other_faults(error, is_lost):
    assert (lost_database(error) is not None) == is_lost


def test_lines_about_a_lost_database_become_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    lost = raised(OperationalError("refused"), ServerError(None))
    passes = DropOutageLines().filter

    assert not any(passes(record(lost)) for _ in range(5))
    answered = record(None, said="Service Unavailable: /")
    answered.status_code = 503
    assert not passes(answered)
    assert passes(record(raised(ValueError("x"))))

    (line,) = caplog.records
    assert line.getMessage().startswith("The database does not answer: refused.")
    outages.ended(DATABASE)
    assert passes(answered)


def test_lines_of_celery_about_its_broker_become_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    passes = DropOutageLines().filter
    lost = raised(BrokerError("refused"), ConnectionRefusedError())
    lost.__cause__ = type("ConnectionError", (Exception,), {})("refused")

    said = "consumer: Cannot connect to redis://x: refused."
    assert not passes(record(None, "celery.worker.consumer.consumer", said))
    assert not passes(record(lost, "celery.beat", "Message Error"))
    assert passes(record(None, "celery.beat", "The schedule is corrupt."))

    assert len(caplog.records) == 1


def test_the_handler_of_all_lines_has_the_filter() -> None:
    handler = logs.log_settings("INFO", log_format="text", access=False)["handlers"]

    assert handler["stderr"]["filters"][0] == "outages"
