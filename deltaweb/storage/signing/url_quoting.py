"""Percent-encoding of many paths at once, by passes over all of their bytes."""

import re
import string
from collections.abc import Sequence
from typing import Final

import numpy as np

from deltaweb.delta.errors import PathEscapesTableError

# A part of a path that is `.` or `..`: a client may write the path without it.
_DOT_PART: Final = re.compile(rb"[/\0]\.\.?[/\0]")
# What no client ever writes otherwise, so a URL means the same however it is re-quoted.
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
