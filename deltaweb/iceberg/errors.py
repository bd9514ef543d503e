"""Why a version of a table cannot be told as Iceberg."""

from typing import ClassVar

from deltaweb.delta.errors import DeltaError
from deltaweb.sharing.errors import ErrorCode, SharingError


class InexpressibleError(DeltaError, code="iceberg-inexpressible"):
    reason: str
    message = "This has no form in Iceberg: {reason}."
    hint = "Read it with a client of Delta Sharing."


class NotIcebergError(SharingError, code="not-iceberg"):
    table: str
    reason: str
    error_code: ClassVar[ErrorCode] = ErrorCode.UNSUPPORTED_OPERATION
    message = "Table {table} cannot be read as Iceberg: {reason}."
    hint = "Read it with a client of Delta Sharing."
