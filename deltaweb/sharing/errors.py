"""The errors of the sharing protocol, and the wording of each.

    SharingError                     what is wrong with a request, and its answer
    ├── RequestMalformedError        400: the body is not what the protocol says
    │   └── RequestTooLargeError     413
    ├── ParameterInvalidError        400: a parameter's value
    ├── HistoryNotSharedError        400: an older version, of a table without history
    ├── FormatNotOfferedError        400: a response format that is not made here
    ├── ChangesNotOfferedError       400: changes between versions
    ├── TableMisreadError            400: the client would misread the table
    ├── FileOutsideTableError        400: a file of the table is none of its own
    ├── FilesVacuumedError           400: files of an older version were deleted
    ├── CredentialsMissingError      401: no bearer token came along
    ├── FileRefusedError             403: the URL of a file
    ├── FileGoneError                404: a file that is not in storage any more
    ├── RangeUnsatisfiableError      416: bytes that the file does not have
    ├── EndpointNotFoundError        404: no endpoint has this path
    ├── MethodNotAllowedError        405
    ├── TooManyRequestsError         429: faster than a token may ask
    ├── TooManyDownloadsError        429: more files at once than a token may fetch
    └── TooManyStreamsError          429: more queries at once than a token may read

An error takes facts and writes its own sentence. `status` and `error_code` are what the
wire says; `code` is the stable name inside.

Source: delta_sharing_protocol.md, "REST APIs"; the reference server's error codes.
"""

import math
from collections.abc import Iterable
from enum import StrEnum
from typing import ClassVar

from deltaweb.delta.errors import DeltaError
from deltaweb.sharing.compatibility import Misreading

SHOWN_CHARACTERS = 80


class ErrorCode(StrEnum):
    """The `errorCode` of an answer."""

    MALFORMED_REQUEST = "MALFORMED_REQUEST"
    INVALID_PARAMETER_VALUE = "INVALID_PARAMETER_VALUE"
    UNSUPPORTED_OPERATION = "UNSUPPORTED_OPERATION"
    RESOURCE_DOES_NOT_EXIST = "RESOURCE_DOES_NOT_EXIST"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    RESOURCE_EXHAUSTED = "RESOURCE_EXHAUSTED"
    INTERNAL_ERROR = "INTERNAL_ERROR"


class SharingError(DeltaError):
    """Base of what a request to the sharing protocol is refused with.

    Attributes:
        status: The HTTP status of the answer.
        error_code: The answer's `errorCode`.
    """

    code = "sharing-error"
    status: ClassVar[int] = 400
    error_code: ClassVar[ErrorCode] = ErrorCode.MALFORMED_REQUEST


# === Requests ===


class RequestMalformedError(SharingError):
    """The body of a request is not what the protocol says."""

    code = "request-malformed"

    def __init__(self, *, reason: str) -> None:
        super().__init__(
            f"The request cannot be read: {reason}.",
            hint="Send a JSON object, {} when there is nothing to say.",
        )


class RequestTooLargeError(RequestMalformedError):
    """The body of a request is larger than any that makes sense."""

    code = "request-too-large"
    status = 413

    def __init__(self, *, limit_bytes: int) -> None:
        super().__init__(reason=f"its body is larger than {limit_bytes} bytes")


class ParameterInvalidError(SharingError):
    """The value of a parameter is none that it can have."""

    code = "parameter-invalid"
    error_code = ErrorCode.INVALID_PARAMETER_VALUE

    def __init__(self, *, name: str, reason: str, hint: str) -> None:
        super().__init__(f"The value of {name} cannot be used: {reason}.", hint=hint)
        self.name = name


class HistoryNotSharedError(SharingError):
    """A version was asked for that is not shared."""

    code = "history-not-shared"
    error_code = ErrorCode.INVALID_PARAMETER_VALUE

    def __init__(self, *, table: str, since: int | None = None) -> None:
        message = f"Table {table} is not shared with its history."
        hint = "Ask for its newest version, without version or timestamp."
        if since is not None:
            message = f"Table {table} is shared from version {since} on."
            hint = f"Ask for version {since} or a later one."
        super().__init__(message, hint=hint)


class FormatNotOfferedError(SharingError):
    """The client takes only response formats that are not made here."""

    code = "format-not-offered"
    error_code = ErrorCode.UNSUPPORTED_OPERATION

    def __init__(self, *, asked: Iterable[str]) -> None:
        formats = ", ".join(asked)[:SHOWN_CHARACTERS]
        super().__init__(
            f"The client asks for the response format {formats}; "
            "this server answers in parquet.",
            hint="Send delta-sharing-capabilities with responseformat=parquet.",
        )


class ChangesNotOfferedError(SharingError):
    """The request asks for the changes between versions."""

    code = "changes-not-offered"
    error_code = ErrorCode.UNSUPPORTED_OPERATION

    def __init__(self, *, name: str) -> None:
        super().__init__(
            f"The request asks for changes by {name}; this server answers with "
            "the files of one version.",
            hint="Ask for a version or a timestamp, or for the newest version.",
        )


# === Tables ===


class TableMisreadError(SharingError):
    """A client of the parquet format would take the table for another."""

    code = "table-misread"
    error_code = ErrorCode.UNSUPPORTED_OPERATION

    def __init__(self, *, table: str, misreadings: Iterable[Misreading]) -> None:
        found = list(misreadings)
        reasons = " ".join(misreading.reason for misreading in found)
        super().__init__(
            f"Table {table} cannot be read in the parquet format. {reasons}",
            hint="Ask the provider of the share for a table without them.",
        )
        self.features = [misreading.feature for misreading in found]


class FileOutsideTableError(SharingError):
    """A file of the version lies outside of the table, and is offered to nobody."""

    code = "file-outside-table"
    error_code = ErrorCode.UNSUPPORTED_OPERATION

    def __init__(self, *, table: str, path: str) -> None:
        name = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
        super().__init__(
            f"Table {table} cannot be shared as it is: "
            f"its file {name[:SHOWN_CHARACTERS]} lies outside of the table.",
            hint="Ask the provider of the share to copy the file into the table.",
        )


class FilesVacuumedError(SharingError):
    """A VACUUM has deleted files of an older version."""

    code = "files-vacuumed"
    error_code = ErrorCode.RESOURCE_DOES_NOT_EXIST

    def __init__(self, *, version: int) -> None:
        super().__init__(
            f"Version {version} of the table cannot be read any more: "
            "files of it were deleted.",
            hint="Ask for a newer version, or for none, which is the newest.",
        )


class CredentialsMissingError(SharingError):
    """No bearer token came with the request."""

    code = "credentials-missing"
    status = 401
    error_code = ErrorCode.UNAUTHENTICATED

    def __init__(self) -> None:
        super().__init__(
            "No bearer token came with the request.",
            hint="Send the token of the profile as Authorization: Bearer <token>.",
        )


class FileRefusedError(SharingError):
    """The URL of a file does not open it, or does so no longer."""

    code = "file-refused"
    status = 403
    error_code = ErrorCode.PERMISSION_DENIED

    def __init__(self, *, reason: str) -> None:
        super().__init__(
            f"This file is not handed out: {reason}.",
            hint="Ask for the table's files again and use their URLs as they are.",
        )


class FileGoneError(SharingError):
    """A file that was offered is not in storage any more."""

    code = "file-gone"
    status = 404
    error_code = ErrorCode.RESOURCE_DOES_NOT_EXIST

    def __init__(self) -> None:
        super().__init__(
            "This file is not in storage any more.",
            hint="Ask for the table's files again; the table may have changed.",
        )


class RangeUnsatisfiableError(SharingError):
    """A range asks for bytes that the file does not have."""

    code = "range-unsatisfiable"
    status = 416
    error_code = ErrorCode.INVALID_PARAMETER_VALUE

    def __init__(self, *, size_bytes: int) -> None:
        super().__init__(
            f"The file has {size_bytes} bytes, and none of those asked for.",
            hint="Ask for a range inside of it.",
        )
        self.size_bytes = size_bytes


# === HTTP ===


class EndpointNotFoundError(SharingError):
    """No endpoint has this path."""

    code = "endpoint-not-found"
    status = 404
    error_code = ErrorCode.RESOURCE_DOES_NOT_EXIST

    def __init__(self) -> None:
        super().__init__(
            "The sharing protocol has no such endpoint here.",
            hint="Check the path below the endpoint of the profile.",
        )


class MethodNotAllowedError(SharingError):
    """The endpoint is asked by other methods."""

    code = "method-not-allowed"
    status = 405
    error_code = ErrorCode.UNSUPPORTED_OPERATION

    def __init__(self, *, method: str, allowed: Iterable[str]) -> None:
        self.allowed = tuple(allowed)
        super().__init__(
            f"This endpoint does not answer to {method[:SHOWN_CHARACTERS]}.",
            hint=f"It answers to {', '.join(self.allowed)}.",
        )


class TooManyRequestsError(SharingError):
    """A token sends more requests than it may.

    `retry_after_s` is a whole number of seconds, at least 1.
    """

    code = "too-many-requests"
    status = 429
    error_code = ErrorCode.RESOURCE_EXHAUSTED

    def __init__(self, *, wait_s: float) -> None:
        self.retry_after_s = max(1, math.ceil(wait_s))
        unit = "second" if self.retry_after_s == 1 else "seconds"
        super().__init__(
            "This token sends requests faster than the server lets it.",
            hint=f"Try again in {self.retry_after_s} {unit}.",
        )


class TooManyDownloadsError(SharingError):
    """A token is in the middle of more downloads than it may, or all tokens are.

    `retry_after_s` is a whole number of seconds.
    """

    code = "too-many-downloads"
    status = 429
    error_code = ErrorCode.RESOURCE_EXHAUSTED
    retry_after_s: ClassVar[int] = 2

    def __init__(self) -> None:
        super().__init__(
            "More files are being fetched than the server sends at the same time.",
            hint="Finish other downloads, or try again in a few seconds.",
        )


class TooManyStreamsError(SharingError):
    """A token is in the middle of more answers than it may, or all tokens are.

    `retry_after_s` is a whole number of seconds.
    """

    code = "too-many-streams"
    status = 429
    error_code = ErrorCode.RESOURCE_EXHAUSTED
    retry_after_s: ClassVar[int] = 2

    def __init__(self) -> None:
        super().__init__(
            "More queries are being answered than the server sends at the same time.",
            hint="Read other answers to their end, or try again in a few seconds.",
        )
