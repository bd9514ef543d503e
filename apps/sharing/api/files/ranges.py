"""The Range header of a request for a file.

Source: RFC 9110, section 14.
"""

import re
from dataclasses import dataclass
from typing import Final

from deltaweb.sharing.errors import RangeUnsatisfiableError

_SINGLE: Final = re.compile(
    r"\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*", re.ASCII | re.IGNORECASE
)
_MAX_DIGITS: Final = 19
_LARGEST: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class ByteRange:
    """A part of a file: `length` bytes from `first` on."""

    first: int
    length: int

    def content_range(self, size: int) -> str:
        """Return the value of `Content-Range`."""
        return f"bytes {self.first}-{self.first + self.length - 1}/{size}"


def parse_range(header: str | None, *, size: int) -> ByteRange | None:
    """Return the part of a file that is asked for; None for all of it.

    What is malformed, of another unit, or of several parts is ignored, as it may be.

    Args:
        header: The value of `Range`, if any.
        size: The file's size in bytes.
    """
    match = _SINGLE.fullmatch(header or "")
    if match is None or not (match[1] or match[2]):
        return None
    if match[1]:
        first = _number(match[1])
        last = _number(match[2]) if match[2] else _LARGEST
        if last < first:
            return None  # malformed: it ends before it begins
        length = min(last, size - 1) - first + 1
    else:
        length = min(_number(match[2]), size)  # the last so many bytes
        first = size - length
    if length <= 0:
        raise RangeUnsatisfiableError(size_bytes=size)
    return ByteRange(first, length)


def _number(digits: str) -> int:
    """Return a number of any length, one beyond every file as the largest."""
    significant = digits.lstrip("0") or "0"
    return int(significant) if len(significant) < _MAX_DIGITS else _LARGEST
