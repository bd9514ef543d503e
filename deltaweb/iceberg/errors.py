"""Why a version of a table cannot be told as Iceberg."""

from typing import ClassVar

from deltaweb.delta.errors import DeltaError
from deltaweb.sharing.errors import (
    EndpointNotFoundError,
    ErrorCode,
    MethodNotAllowedError,
    SharingError,
)


class InexpressibleError(DeltaError, code="iceberg-inexpressible"):
    reason: str
    message = "Iceberg cannot express this: {reason}."
    hint = "Read it with a client of Delta Sharing."


class NotIcebergError(SharingError, code="not-iceberg"):
    table: str
    reason: str
    error_code: ClassVar[ErrorCode] = ErrorCode.UNSUPPORTED_OPERATION
    message = "Table {table} cannot be read as Iceberg: {reason}."
    hint = "Read it with a client of Delta Sharing."


class CatalogEndpointNotFoundError(EndpointNotFoundError, code="iceberg-no-endpoint"):
    message = "The Iceberg catalog has no such endpoint."
    hint = "GET v1/config lists the endpoints that it has."


class CatalogReadOnlyError(MethodNotAllowedError, code="iceberg-read-only"):
    message = "The Iceberg catalog is read-only: it does not answer {method:.80} here."
    hint = "GET v1/config lists the endpoints that it has."
