"""Where a table may be: one spelling for a location, and the roots that are allowed."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from deltaweb.delta.errors import (
    LocationDeniedError,
    LocationInvalidError,
    LocationNotAllowedError,
    LocationNotFoundError,
)
from deltaweb.storage.location import AZURE_SCHEMES
from deltaweb.storage.spellings import holds, parts_of, url_of

MAX_LENGTH = 2000
# Object stores alone: a chained or exotic file system would reach past the roots.
REMOTE_SCHEMES = frozenset(
    {"abfs", "abfss", "adl", "az", "gcs", "gs", "s3", "s3a", "wasb", "wasbs"}
)
# What others share with us is reached by the profile that an administrator added.
RECEIVED_SCHEME = "received"
CONTAINER_SCHEMES = AZURE_SCHEMES - {"az"}  # a container stands before an @
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)(?:::?//|::)")


def is_remote(location: str) -> bool:
    """Whether a location is the URL of an object store."""
    return "://" in location


def parse_location(text: str, *, base: Path | None = None) -> str:
    """Return the one spelling of a location: an absolute path, or a URL.

    Args:
        text: What a person gave: a path, `file:///...`, or a URL of an object store.
        base: Folder that a relative path starts from; None refuses relative paths.
    """
    location = text.strip()
    if not location:
        raise LocationInvalidError(location=text, reason="it is empty")
    if len(location) > MAX_LENGTH:
        reason = f"it is longer than {MAX_LENGTH} characters"
        raise LocationInvalidError(location=text, reason=reason)
    if not location.isprintable():
        raise LocationInvalidError(location=text, reason="it holds control characters")
    scheme = _SCHEME.match(location)
    if scheme is None:
        return _local_path(location, text, base)
    return _from_url(location, scheme[1].lower(), text)


def check_allowed(location: str, *, roots: Sequence[str] | None) -> None:
    """Refuse a location that no allowed root holds; symbolic links are followed.

    The log of a local table is checked too, for it can be a link that leaves the root
    by itself.

    Args:
        location: From `parse_location`.
        roots: The allowed folders and prefixes of URLs; None allows every location.
    """
    if roots is None:
        return
    if is_remote(location):
        is_allowed = any(holds(root, location) for root in roots if is_remote(root))
    else:
        folders = [root for root in roots if not is_remote(root)]
        paths = (location, f"{location}/_delta_log")
        is_allowed = all(is_below(_real_path(path), folders) for path in paths)
    if not is_allowed:
        raise LocationNotAllowedError(location=location, allowed=roots)


def parse_root(text: str) -> str:
    """Return an allowed root: a folder as it is, a bucket's URL in one spelling."""
    if not is_remote(text):
        return text
    parts = parts_of(parse_location(text))
    if len(parts) == 1:
        raise LocationInvalidError(location=text, reason="it names no bucket")
    return url_of(parts)


def check_present(location: str) -> None:
    """Refuse a local folder that is missing or closed: a listing says neither."""
    if is_remote(location):
        return
    try:
        with os.scandir(location):
            pass
    except PermissionError as error:
        raise LocationDeniedError(location=location) from error
    except OSError as error:
        if not os.path.lexists(location):
            raise LocationNotFoundError(location=location) from error
        reason = error.strerror or "it cannot be listed"
        raise LocationInvalidError(location=location, reason=reason) from error


def _real_path(path: str) -> str:
    """Return a path without links.

    Raises:
        LocationDeniedError: If a link may not be followed, such as `/proc/1/root`.
    """
    try:
        return os.path.realpath(path)
    except OSError as error:
        raise LocationDeniedError(location=path) from error


def is_below(real_path: str, roots: Iterable[str]) -> bool:
    """Whether a path without symbolic links is one of `roots` or below one."""
    return any(
        real_path == root or real_path.startswith(root.rstrip("/") + "/")
        for root in map(os.path.realpath, roots)
    )


def _from_url(location: str, scheme: str, text: str) -> str:
    try:
        parts = urlsplit(location)
    except ValueError:  # of brackets that are not closed
        reason = "it is not a URL"
        shown = _shown(scheme, location)
        raise LocationInvalidError(location=shown, reason=reason) from None
    if scheme == "file":
        if parts.netloc not in {"", "localhost"}:
            raise LocationInvalidError(location=text, reason="it names another host")
        return _local_path(unquote(parts.path), text, None)
    if scheme not in {*REMOTE_SCHEMES, RECEIVED_SCHEME} or "::" in location:
        known = ", ".join(sorted(REMOTE_SCHEMES))
        reason = f"{scheme} is not a kind of storage that is known ({known})"
        raise LocationInvalidError(location=_shown(scheme, location), reason=reason)
    place = location.split("://", 1)[1]
    owner, at, _host = place.partition("/")[0].rpartition("@")
    # The container of an Azure URL stands before an @; nothing else may.
    if "?" in place or ":" in owner or (at and scheme not in CONTAINER_SCHEMES):
        reason = "it holds credentials or a query; a location is a bucket and a path"
        raise LocationInvalidError(location=_shown(scheme, location), reason=reason)
    bucket, *names = place.split("/")
    if bucket in {".", ".."}:
        raise LocationInvalidError(location=text, reason="it names no bucket")
    return f"{scheme}://{'/'.join([bucket, *_without_dots(names, text)])}"


def _without_dots(names: Iterable[str], text: str) -> list[str]:
    """Follow `.` and `..` as the reader does, but not out of the bucket."""
    below: list[str] = []
    for name in names:
        if name == ".." and not below:
            reason = "it leads out of its bucket"
            raise LocationInvalidError(location=text, reason=reason)
        if name == "..":
            below.pop()
        elif name not in {"", "."}:
            below.append(name)
    return below


def _shown(scheme: str, location: str) -> str:
    """Return the location, or its scheme alone where it may hold a secret.

    Errors are shown, kept with the job and logged.
    """
    return f"{scheme}://..." if "@" in location or "?" in location else location


def _local_path(path: str, text: str, base: Path | None) -> str:
    if not path.isprintable():
        raise LocationInvalidError(location=text, reason="it holds control characters")
    if base is not None:
        path = str(base / Path(path).expanduser())
    if not path.startswith("/"):
        raise LocationInvalidError(location=text, reason="it is a relative path")
    return "/" + os.path.normpath(path).lstrip("/")
