import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from django.db import OperationalError

from apps.pages.errors import from_database_error, from_delta_error, is_busy
from apps.sharing import errors
from deltaweb.delta.errors import (
    DeltaError,
    LocationInvalidError,
    StorageFullError,
    VersionNotFoundError,
)
from tests.support import cases


class TestFromDeltaError:
    @cases(
        "error, status",
        {
            "what is missing": (
                VersionNotFoundError(root="/t", version=9, earliest=0, latest=1),
                404,
            ),
            "what is wrong": (LocationInvalidError(location="x", reason="no"), 422),
            "a full disk": (StorageFullError(location="/t", reason="no space"), 503),
            "its own: 404": (errors.ShareNotFoundError(name="x"), 404),
            "its own: 409": (errors.NameTakenError(kind="share", name="x"), 409),
            "its own: 410": (errors.LinkWithdrawnError(), 410),
        },
    )
    def test_answers_with_what_the_error_is(self, error: DeltaError, status: int):
        page_error = from_delta_error(error)

        assert page_error.status == status
        assert (page_error.code, page_error.message, page_error.hint) == (
            error.code,
            error.message,
            error.hint,
        )


def wrapped(cause: Exception) -> OperationalError:
    """The error of a driver as Django raises it."""
    error = OperationalError(*cause.args)
    error.__cause__ = cause
    return error


class TestADatabase:
    def test_that_others_write_to_is_busy(self, tmp_path: Path) -> None:
        path = tmp_path / "database"
        with (
            closing(sqlite3.connect(path, isolation_level=None)) as other,
            closing(sqlite3.connect(path, timeout=0)) as ours,
        ):
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(sqlite3.OperationalError) as raised:
                ours.execute("CREATE TABLE t (a)")

        error = from_database_error(wrapped(raised.value))

        assert error is not None
        assert (error.status, error.code) == (503, "database-busy")

    def test_whose_rows_others_hold_is_busy(self) -> None:
        assert is_busy(wrapped(psycopg.errors.LockNotAvailable("55P03")))

    def test_that_is_gone_does_not_answer(self) -> None:
        with pytest.raises(sqlite3.OperationalError) as raised:
            sqlite3.connect("/dev/null/database")

        for cause in (raised.value, psycopg.OperationalError("gone")):
            error = from_database_error(wrapped(cause))
            assert error is not None
            assert (error.status, error.code) == (503, "database-unavailable")

    def test_is_not_to_blame_for_all(self) -> None:
        assert from_database_error(ValueError("a fault")) is None
