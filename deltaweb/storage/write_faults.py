"""What a fault of the disk means to whoever writes."""

import errno
from typing import Final

from deltaweb.delta.errors import (
    DeltaError,
    LocationDeniedError,
    LocationNotWritableError,
    StorageFullError,
)

FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def write_fault(error: OSError, *, place: str) -> DeltaError:
    """Return the error of ours for a fault while `place` was written."""
    reason = error.strerror or "the disk does not accept it"
    if error.errno in FULL or "No space left" in str(error):
        return StorageFullError(location=place, reason=reason)
    if isinstance(error, PermissionError):
        return LocationDeniedError(location=place)
    return LocationNotWritableError(location=place, reason=reason)
