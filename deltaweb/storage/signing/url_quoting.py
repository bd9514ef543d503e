"""Percent-encoding of many paths at once, by passes over all of their bytes."""

import re
import string
from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import PathEscapesTableError
from deltaweb.delta.values.whole import joined_bytes

# A part of a path that is `.` or `..`: a client may write the path without it.
_DOT_PART: Final = re.compile(rb"[/\0]\.\.?[/\0]")
# What no client ever writes otherwise, so a URL means the same however it is re-quoted.
_ODD: Final = (b"/.", b"//", b"\0")
_ENDS: Final = np.frombuffer(b"./", np.uint8)
UNRESERVED: Final = (string.ascii_letters + string.digits + "-._~").encode()
SEPARATOR: Final = "\0"  # no file name holds it


def quote_paths(paths: Sequence[str]) -> list[str]:
    """Return paths below a root percent-encoded; slashes stay."""
    framed = f"\0{SEPARATOR.join(paths)}\0".encode("utf-8", "surrogateescape")
    letters = np.frombuffer(framed, np.uint8)
    separates = (letters == ord("/")) | (letters == ord(SEPARATOR))
    starts = letters[1:][separates[:-1]]  # what each part of a path begins with
    is_plain = not (separates[:-1] & separates[1:]).any()
    if (starts == ord(".")).any():
        is_plain = is_plain and _DOT_PART.search(framed) is None
    quoted = quote_all(paths)
    if paths and not (is_plain and len(quoted) == len(paths)):
        raise PathEscapesTableError(path=next(filter(_leads_elsewhere, paths), ""))
    return quoted


def quote_column(paths: pa.StringArray) -> pa.StringArray:
    """Return the same of a column; of what is usual, no text of Python is made."""
    data = joined_bytes(paths)
    if not (data and data.isascii()) or _is_odd(data, paths):
        return pa.array(quote_paths(paths.to_pylist()), pa.string())
    unsafe = set(data.translate(None, UNRESERVED + b"/"))
    for byte in sorted(unsafe, key=_percent_first):
        paths = pc.replace_substring(paths, chr(byte), f"%{byte:02X}")
    return paths


def _is_odd(data: bytes, paths: pa.StringArray) -> bool:
    """Tell whether some path may not be plainly one below the root."""
    bounds = np.frombuffer(paths.buffers()[1], np.int32)
    bounds = bounds[paths.offset : paths.offset + len(paths) + 1] - bounds[paths.offset]
    letters = np.frombuffer(data, np.uint8)
    ends = letters[np.concatenate([bounds[:-1], bounds[1:] - 1])]
    return bool(
        paths.null_count
        or (np.diff(bounds) == 0).any()
        or np.isin(ends, _ENDS).any()
        or any(odd in data for odd in _ODD)
    )


def quote_all(texts: Sequence[str], *, safe: str = "/") -> list[str]:
    """Return the texts percent-encoded: all but unreserved characters and `safe`.

    Most paths need no encoding, and where some do, each character that needs it is
    replaced in all of them by one pass.

    Args:
        texts: Texts without NUL.
    """
    if not texts:
        return []
    joined = SEPARATOR.join(texts).encode("utf-8", "surrogateescape")
    kept = UNRESERVED + safe.encode("ascii") + b"\0"
    unsafe = set(joined.translate(None, kept))
    for byte in sorted(unsafe, key=_percent_first):
        joined = joined.replace(bytes((byte,)), b"%%%02X" % byte)
    return joined.decode("ascii").split(SEPARATOR)


def _percent_first(byte: int) -> bool:
    """Sort the percent sign before what is replaced by one."""
    return byte != ord("%")


def _leads_elsewhere(path: str) -> bool:
    return "\0" in path or not {"", ".", ".."}.isdisjoint(path.split("/"))
