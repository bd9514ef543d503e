"""A process says what it starts with, and no password."""

import logging

import pytest

from deltaweb.environment.start_lines import started

POSTGRESQL = {
    "ENGINE": "django.db.backends.postgresql",
    "HOST": "db",
    "PORT": 5432,
    "NAME": "tables",
    "USER": "ada",
    "PASSWORD": "very-secret",
}


def test_a_worker_names_version_database_broker_and_concurrency(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "deltaweb.start")

    started(
        "worker",
        database=POSTGRESQL,
        broker="rediss://ada:very-secret@redis:6379/0?ssl_cert_reqs=required",
        version="0.9.0",
        work={"concurrency": 2, "queues": "default, spark"},
    )

    (line,) = caplog.records
    assert line.getMessage() == (
        "The worker starts: deltaweb 0.9.0, postgresql://db:5432/tables,"
        " rediss://redis:6379/0, 2 jobs at a time of default, spark."
    )
    assert line.__dict__["facts"] == {
        "start": "worker",
        "version": "0.9.0",
        "database": "postgresql://db:5432/tables",
        "broker": "rediss://redis:6379/0",
        "concurrency": 2,
        "queues": "default, spark",
    }


def test_the_clock_has_no_concurrency(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "deltaweb.start")
    database = {"ENGINE": "django.db.backends.sqlite3", "NAME": "/home/x.sqlite3"}

    started("clock", version="1", database=database, broker="filesystem://")

    assert caplog.records[0].getMessage() == (
        "The clock starts: deltaweb 1, sqlite:////home/x.sqlite3, filesystem://."
    )
