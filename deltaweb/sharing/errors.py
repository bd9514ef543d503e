"""The errors of the sharing protocol, and the wording of each.

    SharingError                     what is wrong with a request, and its answer
    ├── RequestMalformedError        400: the body is not what the protocol says
    │   └── RequestTooLargeError     413
    ├── ParameterInvalidError        400: a parameter's value
    ├── QueryTokenEndedError         400: a token of a query that was good once
    ├── HistoryNotSharedError        400: an older version, of a table without history
    ├── FormatNotOfferedError        400: a response format that is not made here
    ├── TableMisreadError            400: the client would misread the table
    ├── FileOutsideTableError        400: a file of the table is none of its own
    ├── DirectoryNotOfferedError     400: credentials for a table of URLs alone
    ├── FilesVacuumedError           400: files of an older version were deleted
    ├── FileCopyError                400: a file to be rewritten that cannot be
    ├── RuledChangesError            400: changes of a table that is shared in part
    ├── VersionNotReadyError         409: a version of which files are still rewritten
    ├── PlainFilesAwaitedError       503: the same; repeat after a while
    ├── CredentialsMissingError      401: no bearer token came along
    ├── FileRefusedError             403: the URL of a file
    ├── FileGoneError                404: a file that is not in storage any more
    ├── QueryNotFoundError           404: a query that is answered later
    ├── RangeUnsatisfiableError      416: bytes that the file does not have
    ├── EndpointNotFoundError        404: no endpoint has this path
    ├── MethodNotAllowedError        405
    ├── TooManyRequestsError         429: faster than a token may ask
    ├── BudgetSpentError             429: more in a month than a recipient may read;
    │                                403 where the month lasts longer than a minute
    ├── TooManyDownloadsError        429: more files at once than a token may fetch
    └── TooManyStreamsError          429: more queries at once than a token may read

`status` and `error_code` are what the
wire says; `code` is the stable name inside.

Source: delta_sharing_protocol.md, "REST APIs"; the reference server's error codes.
"""

import math
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from deltaweb.delta.errors import DeltaError
from deltaweb.sharing.compatibility import Misreading
from deltaweb.words import bytes_text

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


class SharingError(DeltaError, code="sharing-error"):
    """Base of what a request to the sharing protocol is refused with."""

    status: ClassVar[int] = 400
    error_code: ClassVar[ErrorCode] = ErrorCode.MALFORMED_REQUEST


# === Requests ===


class RequestMalformedError(SharingError, code="request-malformed"):
    reason: str
    message = "The request cannot be read: {reason}."
    hint = "Send a JSON object, or {{}} if there are no parameters."


class RequestTooLargeError(RequestMalformedError, code="request-too-large"):
    """The body of a request is larger than any that makes sense."""

    limit_bytes: int
    status = 413
    reason: str = "its body is larger than {limit_bytes} bytes"


class ParameterInvalidError(SharingError, code="parameter-invalid"):
    name: str
    reason: str
    hint: str
    error_code = ErrorCode.INVALID_PARAMETER_VALUE
    message = "The value of {name} cannot be used: {reason}."


class QueryTokenEndedError(SharingError, code="query-token-ended"):
    name: str
    reason: str
    error_code = ErrorCode.INVALID_PARAMETER_VALUE
    message = "The {name} is no longer valid: {reason}."
    hint = "Send the query again from its beginning, without {name}."


class HistoryNotSharedError(SharingError, code="history-not-shared"):
    """A version was asked for that is not shared."""

    table: str
    since: int | None = None
    error_code = ErrorCode.INVALID_PARAMETER_VALUE
    message = "Table {table} is {_scope}."
    hint = "Ask for {_choice}."

    @property
    def _scope(self) -> str:
        if self.since is None:
            return "not shared with its history"
        return f"shared from version {self.since} on"

    @property
    def _choice(self) -> str:
        if self.since is None:
            return "its newest version, without version or timestamp"
        return f"version {self.since} or a later one"


class FormatNotOfferedError(SharingError, code="format-not-offered"):
    asked: Sequence[str]
    error_code = ErrorCode.UNSUPPORTED_OPERATION
    message = (
        "The client requests the response format {_formats}; this server answers in "
        "parquet and in delta."
    )
    hint = "Send delta-sharing-capabilities with responseformat=delta,parquet."

    @property
    def _formats(self) -> str:
        return ", ".join(self.asked)[:SHOWN_CHARACTERS]


# === Tables ===


class DirectoryNotOfferedError(SharingError, code="directory-not-offered"):
    table: str
    reason: str
    error_code = ErrorCode.UNSUPPORTED_OPERATION
    message = "Table {table} is not offered as a directory: {reason}."
    hint = "Read it by the URLs of its files, as accessModes says."


class TableMisreadError(SharingError, code="table-misread"):
    table: str
    misreadings: Sequence[Misreading]
    response_format: str
    error_code = ErrorCode.UNSUPPORTED_OPERATION
    message = "Table {table} cannot be read in the {response_format} format. {_reasons}"
    hint = (
        "Read it with a client {_of}, or ask the provider of the share for a table "
        "without them."
    )

    @property
    def features(self) -> list[str]:
        return [misreading.feature for misreading in self.misreadings]

    @property
    def _reasons(self) -> str:
        return " ".join(misreading.reason for misreading in self.misreadings)

    @property
    def _of(self) -> str:
        if self.response_format == "parquet":
            return "of the delta response format"
        return f"whose readerfeatures name {', '.join(dict.fromkeys(self.features))}"


class FileOutsideTableError(SharingError, code="file-outside-table"):
    table: str
    path: str
    error_code = ErrorCode.UNSUPPORTED_OPERATION
    message = (
        "Table {table} cannot be shared as it is: its file {_name} "
        "lies outside of the table."
    )
    hint = "Ask the provider of the share to copy the file into the table."

    @property
    def _name(self) -> str:
        name = self.path.replace("\\", "/").rstrip("/").rpartition("/")[2]
        return name[:SHOWN_CHARACTERS]


class FilesVacuumedError(SharingError, code="files-vacuumed"):
    version: int
    error_code = ErrorCode.RESOURCE_DOES_NOT_EXIST
    message = (
        "Version {version} of the table cannot be read any more: files of it were "
        "deleted."
    )
    hint = "Request a newer version, or none for the newest."


class FileCopyError(SharingError, code="file-copy"):
    table: str
    column: str
    error_code = ErrorCode.UNSUPPORTED_OPERATION
    message = (
        "Files of table {table} cannot be rewritten, because the column {column:.80r} "
        "is of the type variant."
    )
    hint = "Ask the provider of the share to leave the column out."


class RuledChangesError(SharingError, code="ruled-changes"):
    """The requested changes of a version were not rewritten.

    Attributes:
        is_plain: Whether all of the table is shared, as plain files.
    """

    table: str
    since: int | None = None
    is_plain: bool = False
    error_code = ErrorCode.UNSUPPORTED_OPERATION
    message = "Changes of table {table} are not shared{_scope}, because {_reason}."
    hint = "Read whole versions of it instead."

    @property
    def _scope(self) -> str:
        return "" if self.since is None else f" before version {self.since}"

    @property
    def _reason(self) -> str:
        if self.is_plain:
            return "they were not prepared as plain files"
        return "only a part of the table is shared"


class VersionNotReadyError(SharingError, code="version-not-ready"):
    table: str
    version: int
    status = 409
    error_code = ErrorCode.UNSUPPORTED_OPERATION
    message = "Version {version} of table {table} is not ready to be read yet."
    hint = "Try again later, or ask for no version, which is the newest that is ready."


class PlainFilesAwaitedError(SharingError, code="plain-files-awaited"):
    table: str
    retry_after_s: int
    status = 503
    error_code = ErrorCode.INTERNAL_ERROR
    message = "The files of table {table} are being prepared."
    hint = "Try again in {retry_after_s} seconds."


class CredentialsMissingError(SharingError, code="credentials-missing"):
    status = 401
    error_code = ErrorCode.UNAUTHENTICATED
    message = "No bearer token came with the request."
    hint = "Send the token of the profile as Authorization: Bearer <token>."


class FileRefusedError(SharingError, code="file-refused"):
    reason: str
    status = 403
    error_code = ErrorCode.PERMISSION_DENIED
    message = "This file is not served: {reason}."
    hint = "Query the table again and use the URLs unchanged."


class FileGoneError(SharingError, code="file-gone"):
    status = 404
    error_code = ErrorCode.RESOURCE_DOES_NOT_EXIST
    message = "This file is no longer in storage."
    hint = "Query the table again, because it may have changed."


class QueryNotFoundError(SharingError, code="query-not-found"):
    query_id: str
    status = 404
    error_code = ErrorCode.RESOURCE_DOES_NOT_EXIST
    message = "There is no query {query_id:.80r} on this table."
    hint = "Send the query again; its answer is kept for an hour."


class RangeUnsatisfiableError(SharingError, code="range-unsatisfiable"):
    size_bytes: int
    status = 416
    error_code = ErrorCode.INVALID_PARAMETER_VALUE
    message = "The file has {size_bytes} bytes, and none of those requested."
    hint = "Request a range within the file."


# === HTTP ===


class EndpointNotFoundError(SharingError, code="endpoint-not-found"):
    status = 404
    error_code = ErrorCode.RESOURCE_DOES_NOT_EXIST
    message = "The sharing protocol has no such endpoint here."
    hint = "Check the path below the endpoint of the profile."


class MethodNotAllowedError(SharingError, code="method-not-allowed"):
    method: str
    allowed: Sequence[str]
    status = 405
    error_code = ErrorCode.UNSUPPORTED_OPERATION
    message = "This endpoint does not support {method:.80}."
    hint = "{_answered}"

    @property
    def _answered(self) -> str:
        if not self.allowed:
            return "Check the path and the method of the request."
        return f"It answers to {' and '.join(self.allowed)}."


class TooManyRequestsError(SharingError, code="too-many-requests"):
    """A token sends more requests than it may.

    `retry_after_s` is a whole number of seconds, at least 1.
    """

    wait_s: float
    status = 429
    error_code = ErrorCode.RESOURCE_EXHAUSTED
    message = "This token sends requests faster than the server lets it."
    hint = "Try again in {retry_after_s} {_unit}."

    @property
    def retry_after_s(self) -> int:
        return max(1, math.ceil(self.wait_s))

    @property
    def _unit(self) -> str:
        return "second" if self.retry_after_s == 1 else "seconds"


class BudgetSpentError(SharingError, code="budget-spent"):
    """A recipient was offered as much in a month as it may be.

    `retry_after_s` is a whole number of seconds, at least 1, until the month is over.
    The answer is 403 while that is longer than a client should wait.
    """

    limit_bytes: int
    offered_bytes: int
    until: datetime
    wait_s: float
    status = 429
    error_code = ErrorCode.RESOURCE_EXHAUSTED
    message = (
        "The provider lets you read {_limit} a month, and that is used up: {_offered} "
        "were offered."
    )
    hint = (
        "Reads are answered again from {until:%Y-%m-%d %H:%M} UTC on, or when the "
        "provider raises the limit."
    )

    @property
    def retry_after_s(self) -> int:
        return max(1, math.ceil(self.wait_s))

    @property
    def _limit(self) -> str:
        return bytes_text(self.limit_bytes)

    @property
    def _offered(self) -> str:
        return bytes_text(self.offered_bytes)


class TooManyDownloadsError(SharingError, code="too-many-downloads"):
    """A token is in the middle of more downloads than it may, or all tokens are.

    `retry_after_s` is a whole number of seconds.
    """

    status = 429
    error_code = ErrorCode.RESOURCE_EXHAUSTED
    retry_after_s: ClassVar[int] = 2
    message = "The server is already sending as many files as it can at the same time."
    hint = "Finish other downloads, or try again in a few seconds."


class TooManyStreamsError(SharingError, code="too-many-streams"):
    """A token is in the middle of more answers than it may, or all tokens are.

    `retry_after_s` is a whole number of seconds.
    """

    status = 429
    error_code = ErrorCode.RESOURCE_EXHAUSTED
    retry_after_s: ClassVar[int] = 2
    message = (
        "The server is already answering as many queries as it can at the same time."
    )
    hint = "Read other answers to their end, or try again in a few seconds."
