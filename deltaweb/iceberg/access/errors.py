"""What a request for an object is refused with."""

from typing import ClassVar

from deltaweb.sharing.errors import ErrorCode, SharingError


class KeysRefusedError(SharingError, code="keys-refused"):
    """A request that no keys of this server have signed."""

    reason: str
    s3_code: str = "AccessDenied"
    status = 403
    error_code: ClassVar[ErrorCode] = ErrorCode.PERMISSION_DENIED
    message = "The keys of this request are not accepted: {reason}."
    hint = "Load the table from the catalog again and use the keys that come with it."


class ObjectMissingError(SharingError, code="object-missing"):
    status = 404
    error_code: ClassVar[ErrorCode] = ErrorCode.RESOURCE_DOES_NOT_EXIST
    message = "There is no object with this key."
    hint = "Load the table from the catalog again."


class ObjectChangedError(SharingError, code="object-changed"):
    status = 412
    message = "The object is not the one in If-Match."
    hint = "Load the table from the catalog again."
