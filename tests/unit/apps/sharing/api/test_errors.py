import errno
from datetime import UTC, datetime
from typing import Final

import psycopg
import pytest
from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.db import OperationalError
from django.http import Http404

from apps.sharing.api.errors import failure_of, of_status
from apps.sharing.errors import (
    AddressNotAllowedError,
    NotGrantedError,
    TokenExpiredError,
    TokenRevokedError,
    TokenUnknownError,
)
from deltaweb.delta import errors as delta
from deltaweb.sharing import errors as sharing
from deltaweb.sharing.compatibility import Misreading
from tests.support import cases
from tests.support.pages.factories import NOW

ROOT = "/srv/private/lake/orders"
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)

OF_A_TABLE: Final = {
    "INVALID_PARAMETER_VALUE": [
        delta.VersionNotFoundError(root=ROOT, version=9, earliest=0, latest=5),
        delta.TimestampNotFoundError(
            root=ROOT, timestamp=NOON, earliest=NOON, latest=NOON
        ),
        delta.TimestampInvalidError(text=ROOT),
    ],
    "RESOURCE_DOES_NOT_EXIST": [
        delta.TableNotFoundError(root=ROOT),
        delta.LocationNotFoundError(location=ROOT),
        delta.LocationDeniedError(location=ROOT),
        delta.LocationNotAllowedError(location=ROOT, allowed=[ROOT]),
        delta.CredentialsNeededError(location=ROOT),
        delta.LocationUnreachableError(location=ROOT, reason=ROOT),
        delta.LocationUnsupportedError(location=ROOT, scheme="x"),
        delta.LogGapError(root=ROOT, version=9, missing_version=4),
        delta.LogCorruptError(path=f"{ROOT}/_delta_log/1.json", reason="odd"),
        delta.MissingMetadataError(root=ROOT, version=1),
        delta.DataFileMissingError(path=f"{ROOT}/x"),
        delta.DataFileError(path=f"{ROOT}/x", reason="odd"),
        delta.DeltaError(message=ROOT, hint=ROOT),
    ],
    "UNSUPPORTED_OPERATION": [
        delta.UnsupportedFeatureError(root=ROOT, version=1, features=["x"]),
        delta.UnsupportedProtocolError(
            root=ROOT, version=1, min_reader_version=9, supported=3
        ),
        delta.SchemaMissingError(root=ROOT, version=1),
        delta.PathEscapesTableError(path=f"{ROOT}/../x"),
        delta.PartitionValueError(
            path=f"{ROOT}/x", column="day", value="x", type_name="date"
        ),
        delta.PredicateError(reason="secret_column"),
    ],
}


class TestFailureOfATable:
    @pytest.mark.parametrize(
        ("code", "error"),
        [(code, error) for code, errors in OF_A_TABLE.items() for error in errors],
        ids=lambda value: value.code if isinstance(value, delta.DeltaError) else "",
    )
    def test_is_the_callers_to_see_and_tells_no_place(self, error, code):
        failure = failure_of(error)

        assert (failure.status, failure.error_code) == (400, code)
        assert "/srv" not in failure.message
        assert "secret" not in failure.message
        assert failure.message.endswith((".", "Z"))
        assert not failure.is_fault


class TestFailureOfACaller:
    @pytest.mark.parametrize(
        ("error", "status", "code"),
        [
            (TokenUnknownError(), 401, "UNAUTHENTICATED"),
            (TokenRevokedError(), 401, "UNAUTHENTICATED"),
            (TokenExpiredError(ended_at=NOON), 401, "UNAUTHENTICATED"),
            (sharing.CredentialsMissingError(), 401, "UNAUTHENTICATED"),
            (AddressNotAllowedError(address="10.0.0.1"), 403, "PERMISSION_DENIED"),
            (sharing.FileRefusedError(reason="x"), 403, "PERMISSION_DENIED"),
            (NotGrantedError(kind="share", name="x"), 404, "RESOURCE_DOES_NOT_EXIST"),
            (sharing.FileGoneError(), 404, "RESOURCE_DOES_NOT_EXIST"),
            (Http404(), 404, "RESOURCE_DOES_NOT_EXIST"),
            (PermissionDenied(), 403, "PERMISSION_DENIED"),
            (RequestDataTooBig(), 413, "MALFORMED_REQUEST"),
            (SuspiciousOperation(), 400, "MALFORMED_REQUEST"),
            (
                sharing.TableMisreadError(
                    table="a.b",
                    misreadings=[Misreading("x", "It does.")],
                    response_format="parquet",
                ),
                400,
                "UNSUPPORTED_OPERATION",
            ),
        ],
        ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
    )
    def test_has_its_status_and_code(self, error: Exception, status: int, code: str):
        failure = failure_of(error)

        assert (failure.status, failure.error_code) == (status, code)
        assert failure.message
        answer = failure.answer()
        assert (answer.headers.get("WWW-Authenticate") == "Bearer") == (status == 401)

    def test_of_too_many_requests_says_when_to_come_back(self) -> None:
        for wait_s, retry_after in ((0.001, "1"), (1.2, "2"), (30, "30")):
            failure = failure_of(sharing.TooManyRequestsError(wait_s=wait_s))
            assert failure.answer()["Retry-After"] == retry_after

    @cases(
        "wait_s, status",
        {
            "a minute": (60.0, 429),
            "more than a minute": (60.5, 403),
            "days": (188_444.0, 403),
        },
    )
    def test_never_makes_a_client_wait_for_long(self, wait_s, status) -> None:
        spent = sharing.BudgetSpentError(
            limit_bytes=1, offered_bytes=1, until=NOW, wait_s=wait_s
        )

        for error in (spent, sharing.TooManyRequestsError(wait_s=wait_s)):
            answer = failure_of(error).answer()
            assert answer.status_code == status
            assert ("Retry-After" in answer) == (status == 429)
            assert error.message in answer.content.decode()


class TestADatabaseThatOthersWriteTo:
    def test_is_an_answer_to_ask_again_for(self) -> None:
        error = OperationalError()
        error.__cause__ = psycopg.errors.LockNotAvailable("secret")

        failure = failure_of(error)

        assert failure.status == 503
        assert failure.message
        assert "secret" not in failure.message
        assert not failure.is_fault
        assert failure.answer()["Retry-After"] == "5"


class TestAServerWithoutADatabaseOrDiskSpace:
    @pytest.mark.parametrize(
        "error",
        [
            OperationalError("secret"),
            OSError(errno.ENOSPC, "secret"),
            OSError(errno.EDQUOT, "secret"),
        ],
    )
    def test_answers_503_and_logs_the_fault(self, error: Exception) -> None:
        failure = failure_of(error)

        assert failure.status == 503
        assert "secret" not in failure.message
        assert failure.is_fault
        assert failure.answer()["Retry-After"] == "60"


class TestFault:
    @pytest.mark.parametrize(
        "error", [RuntimeError("secret"), KeyError("secret"), OSError("secret")]
    )
    def test_of_ours_tells_nothing(self, error: Exception) -> None:
        failure = failure_of(error)

        assert failure.is_fault
        assert failure.status == 500
        assert failure.answer().content == (
            b'{"errorCode":"INTERNAL_ERROR","message":""}'
        )

    def test_of_other_layers_tells_nothing(self) -> None:
        assert of_status(503, "secret").message == ""
        assert of_status(502, "secret").status == 500
