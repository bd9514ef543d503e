"""Paths of data files: from the log's URI to a path below a root.

A path is decoded exactly once: `%2520` in the log is `%20` on disk, and a plus sign
stays a plus sign.

Source: delta_protocol.md, "Add File and Remove File".
"""

import posixpath
import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote

from deltaweb.delta.errors import PathEscapesTableError

LOG_FOLDER: Final = "_delta_log"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:", re.ASCII)
_FILE_SCHEME = re.compile(
    r"^file:(?://(?:localhost)?/|/(?!/))", re.ASCII | re.IGNORECASE
)


def is_absolute(path: str) -> bool:
    """Tell whether a path of the log names a place of its own."""
    return path.startswith("/") or _SCHEME.match(path) is not None


def decode_path(path: str) -> str:
    """Return the path with its escapes decoded, once."""
    decoded = unquote(path, errors="surrogateescape")
    if "\0" in decoded:
        raise PathEscapesTableError(path=path)
    return decoded


def resolve_data_path(path: str, *, root: str, allowed_roots: Sequence[str]) -> str:
    """Return the place of a data file, below the table's root or an allowed one.

    Args:
        root: The table's root without a trailing slash, as an absolute path or URL.
    """
    decoded = decode_path(path)
    if is_absolute(path):
        place = normalize(_without_file_scheme(decoded))
        roots: Sequence[str] = (root, *allowed_roots)
    else:
        place = normalize(f"{root}/{decoded}")
        roots = (root, *allowed_roots)
    if not any(is_below(place, one) for one in roots):
        raise PathEscapesTableError(path=path)
    return place


def own_data_place(path: str, *, root: str) -> str:
    """Return the place of a data file that is the table's own, to be deleted."""
    place = resolve_data_path(path, root=root, allowed_roots=())
    below = place[len(root.rstrip("/")) + 1 :]
    if below.split("/", 1)[0] == LOG_FOLDER:
        raise PathEscapesTableError(path=path)
    return place


def normalize(place: str) -> str:
    """Return an absolute path or URL without `.`, `..` and doubled slashes."""
    scheme, separator, rest = place.partition("://")
    if separator:
        return f"{scheme}://{posixpath.normpath('/' + rest)[1:]}"
    return re.sub("^//+", "/", posixpath.normpath(place))


def is_below(place: str, root: str) -> bool:
    """Tell whether a normalized place lies inside a root."""
    return place.startswith(f"{root.rstrip('/')}/")


def _without_file_scheme(path: str) -> str:
    """Return the path of a `file:` URL, whose host is none or `localhost`.

    Source: RFC 8089, "The file URI Scheme".
    """
    return _FILE_SCHEME.sub("/", path)
