"""How a failure becomes an answer of the protocol.

Whatever fails, the body is `{"errorCode", "message"}`. What the storage or the log of
a table says of itself stays inside: its text may name paths of the server.

Source: sharing_wire.md, 2.3 (the codes of the reference server).
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Final

from django.core.exceptions import (
    DisallowedHost,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.http import Http404

from apps.operate.errors import SwitchedOffError
from apps.pages.errors import (
    from_database_error,
    from_disk_error,
    is_busy,
)
from apps.sharing.api.responses import WholeAnswer, error_answer
from apps.sharing.errors import AccessError
from apps.tables.storage.errors import StorageHostError
from deltaweb.delta.errors import (
    CredentialsNeededError,
    DataFileMissingError,
    DeltaError,
    LocationDeniedError,
    LocationNotAllowedError,
    LocationNotFoundError,
    LocationUnreachableError,
    LogCorruptError,
    LogGapError,
    MissingActionError,
    PartitionValueError,
    PathEscapesTableError,
    PredicateError,
    SchemaError,
    TableNotFoundError,
    TimestampInvalidError,
    TimestampNotFoundError,
    UnsupportedFeatureError,
    UnsupportedProtocolError,
    VersionNotFoundError,
)
from deltaweb.delta.feed.errors import FeedOffError, FeedRangeError, FeedSchemaError
from deltaweb.sharing.errors import (
    BudgetSpentError,
    ErrorCode,
    MethodNotAllowedError,
    PlainFilesAwaitedError,
    RangeUnsatisfiableError,
    SharingError,
    TooManyDownloadsError,
    TooManyRequestsError,
    TooManyStreamsError,
)
from deltaweb.storage.objects.vending.errors import (
    VendingRefusedError,
    VendingUnsupportedError,
)

logger = logging.getLogger(__name__)

ASK_PROVIDER: Final = "Ask the provider of the share."
# Clients sleep for as long as Retry-After says, or repeat a 429 for minutes without it.
LONGEST_RETRY_S: Final = 60
_RETRIED: Final = (
    BudgetSpentError,
    PlainFilesAwaitedError,
    TooManyDownloadsError,
    TooManyRequestsError,
    TooManyStreamsError,
)
CODES_BY_STATUS: Final = {
    HTTPStatus.UNAUTHORIZED: ErrorCode.UNAUTHENTICATED,
    HTTPStatus.FORBIDDEN: ErrorCode.PERMISSION_DENIED,
    HTTPStatus.NOT_FOUND: ErrorCode.RESOURCE_DOES_NOT_EXIST,
    HTTPStatus.METHOD_NOT_ALLOWED: ErrorCode.UNSUPPORTED_OPERATION,
    HTTPStatus.TOO_MANY_REQUESTS: ErrorCode.RESOURCE_EXHAUSTED,
}
_WRONG_HOST: Final = (
    "This server does not answer to this host name. Its administrator can add it to "
    "DELTAWEB_ALLOWED_HOSTS, and set DELTAWEB_PUBLIC_URL to the address of profiles."
)
# What Django itself finds wrong with a request that reaches a view.
_FRAMEWORK_ERRORS: Final[tuple[tuple[type[Exception], int, str], ...]] = (
    (Http404, 404, "The sharing protocol has no such endpoint here."),
    (PermissionDenied, 403, "This is not allowed."),
    (RequestDataTooBig, 413, "The request is too large."),
    (
        DisallowedHost,
        400,
        _WRONG_HOST,
    ),
    (SuspiciousOperation, 400, "The request cannot be read."),
)


@dataclass(frozen=True, slots=True)
class Failure:
    """What an answer says of a failure.

    Attributes:
        error_code: The answer's `errorCode`.
        message: What a recipient may read.
    """

    status: int
    error_code: ErrorCode
    message: str
    headers: dict[str, str] = field(default_factory=dict)
    is_fault: bool = False

    def answer(self) -> WholeAnswer:
        """Return the answer."""
        answer = error_answer(self.status, self.error_code, self.message)
        for name, value in self.headers.items():
            answer[name] = value
        return answer


INTERNAL: Final = Failure(500, ErrorCode.INTERNAL_ERROR, "", is_fault=True)
BUSY: Final = Failure(
    503,
    ErrorCode.INTERNAL_ERROR,
    "The server is busy. Try again in a few seconds.",
    headers={"Retry-After": "5"},
)
UNAVAILABLE: Final = replace(
    BUSY,
    message="The server cannot answer at the moment. Try again in a few minutes.",
    headers={"Retry-After": "60"},
    is_fault=True,
)


def failure_of(error: Exception) -> Failure:
    """Return what is answered when `error` ends a call; an unknown one is ours."""
    match error:
        case SharingError():
            return _of_request(error)
        case AccessError():
            return of_status(error.status, f"{error.message} {error.hint}")
        case DeltaError():
            return _of_table(error)
    if (passing := _passing(error)) is not None:
        return passing
    for kind, status, message in _FRAMEWORK_ERRORS:
        if isinstance(error, kind):
            return of_status(status, message)
    return INTERNAL


def _passing(error: Exception) -> Failure | None:
    """Return the failure of a server that cannot answer now; None if it can."""
    if isinstance(error, SwitchedOffError):
        headers = {"Retry-After": str(error.retry_after_s)}
        return replace(BUSY, message=error.message, headers=headers)
    if from_database_error(error) or from_disk_error(error):
        return BUSY if is_busy(error) else UNAVAILABLE
    return None


def of_status(status: int, message: str) -> Failure:
    """Return the failure that a status stands for."""
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return INTERNAL
    code = CODES_BY_STATUS.get(HTTPStatus(status), ErrorCode.MALFORMED_REQUEST)
    headers = {}
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    return Failure(status, code, message, headers)


def _of_request(error: SharingError) -> Failure:
    headers = {}
    if error.status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    text = f"{error.message} {error.hint}"
    if isinstance(error, _RETRIED):
        if error.retry_after_s > LONGEST_RETRY_S:
            return of_status(HTTPStatus.FORBIDDEN, text)
        headers["Retry-After"] = str(error.retry_after_s)
    if isinstance(error, RangeUnsatisfiableError):
        headers["Content-Range"] = f"bytes */{error.size_bytes}"
    if isinstance(error, MethodNotAllowedError):
        headers["Allow"] = ", ".join(error.allowed)
    return Failure(error.status, error.error_code, text, headers)


# === Tables and their storage ===


def _of_table(error: DeltaError) -> Failure:
    """Return what a recipient may know of a table that cannot be read.

    A client would repeat a 5xx for minutes, and it would be the same each time.
    """
    for kind, (code, text) in _TABLE_FAULTS.items():
        if isinstance(error, kind):
            return Failure(400, code, text(error) if callable(text) else text)
    message = f"The table cannot be read at the moment. {ASK_PROVIDER}"
    return Failure(400, ErrorCode.RESOURCE_DOES_NOT_EXIST, message)


def _version_text(error: DeltaError) -> str:
    version = getattr(error, "version", "")
    return f"The table has no version {version}. {error.hint}"


def _timestamp_text(error: DeltaError) -> str:
    return f"The table has no version at or before that time. {error.hint}"


def _feed_off_text(error: DeltaError) -> str:
    version = getattr(error, "version", "")
    return f"The table has no changes at version {version}. {error.hint}"


def _feed_range_text(error: DeltaError) -> str:
    reason = getattr(error, "reason", "")
    return f"The table has no changes in this range: {reason}. {error.hint}"


def _feed_schema_text(error: DeltaError) -> str:
    until, version, reason = (
        getattr(error, name, "") for name in ("until", "version", "reason")
    )
    return (
        "The changes cannot be shown in one schema: "
        f"{until} {version} {reason}. {error.hint}"
    )


def _features_text(error: DeltaError) -> str:
    features = ", ".join(getattr(error, "features", ()))
    return f"The table uses {features[:200]}, which this server does not read."


_FILES_MISSING: Final = f"Files of the table are missing. {ASK_PROVIDER}"
_LOG_DAMAGED: Final = f"The log of the table is damaged. {ASK_PROVIDER}"
_DENIED: Final = f"The storage of the table answers: permission denied. {ASK_PROVIDER}"
_FILTER_FAILS: Final = (
    "The filter that the table is shared with does not fit this version of it. "
    f"{ASK_PROVIDER}"
)
_BY_URLS: Final = f"Read it by the URLs of its files. {ASK_PROVIDER}"
_Text = str | Callable[[DeltaError], str]
_NOT_THERE: Final = ErrorCode.RESOURCE_DOES_NOT_EXIST
_NOT_READ: Final = ErrorCode.UNSUPPORTED_OPERATION
_WRONG_VALUE: Final = ErrorCode.INVALID_PARAMETER_VALUE
_TABLE_FAULTS: Final[Mapping[type[DeltaError], tuple[ErrorCode, _Text]]] = {
    VersionNotFoundError: (_WRONG_VALUE, _version_text),
    TimestampNotFoundError: (_WRONG_VALUE, _timestamp_text),
    TimestampInvalidError: (
        _WRONG_VALUE,
        "This is not a time with a zone. Write it as 2026-01-31T12:00:00Z.",
    ),
    FeedRangeError: (_WRONG_VALUE, _feed_range_text),
    FeedOffError: (_WRONG_VALUE, _feed_off_text),
    FeedSchemaError: (_NOT_READ, _feed_schema_text),
    UnsupportedFeatureError: (_NOT_READ, _features_text),
    UnsupportedProtocolError: (
        _NOT_READ,
        "The table requires a newer reader than this server.",
    ),
    SchemaError: (
        _NOT_READ,
        f"The table has no schema that the protocol can express. {ASK_PROVIDER}",
    ),
    PathEscapesTableError: (
        _NOT_READ,
        f"A file of the table lies outside of it. {ASK_PROVIDER}",
    ),
    PartitionValueError: (_NOT_READ, _FILTER_FAILS),
    PredicateError: (_NOT_READ, _FILTER_FAILS),
    TableNotFoundError: (_NOT_THERE, _FILES_MISSING),
    LocationNotFoundError: (_NOT_THERE, _FILES_MISSING),
    DataFileMissingError: (_NOT_THERE, _FILES_MISSING),
    LogGapError: (_NOT_THERE, _FILES_MISSING),
    LogCorruptError: (_NOT_THERE, _LOG_DAMAGED),
    MissingActionError: (_NOT_THERE, _LOG_DAMAGED),
    LocationDeniedError: (_NOT_THERE, _DENIED),
    CredentialsNeededError: (_NOT_THERE, _DENIED),
    LocationNotAllowedError: (_NOT_THERE, _DENIED),
    VendingUnsupportedError: (
        _NOT_READ,
        f"The storage of the table cannot hold credentials to its folder. {_BY_URLS}",
    ),
    **dict.fromkeys(
        (VendingRefusedError, StorageHostError),
        (
            _NOT_READ,
            f"The storage of the table gives no credentials at the moment. {_BY_URLS}",
        ),
    ),
    LocationUnreachableError: (
        _NOT_THERE,
        f"The storage of the table does not answer at the moment. {ASK_PROVIDER}",
    ),
}
