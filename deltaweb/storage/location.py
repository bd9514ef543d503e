"""A location, as people write it, in the one form that compares."""

import os
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote, urlsplit, urlunsplit

from deltaweb.delta.errors import LocationInvalidError
from deltaweb.storage.data_path import normalize

MAX_LOCATION_LENGTH = 4096
# Whatever else an account is called would begin the address of another host.
AZURE_ACCOUNT: Final = re.compile(r"[A-Za-z0-9-]+")
S3_SCHEMES: Final = frozenset({"s3", "s3a", "s3n"})
GCS_SCHEMES: Final = frozenset({"gcs", "gs"})
AZURE_SCHEMES: Final = frozenset({"abfs", "abfss", "az", "wasb", "wasbs"})
SAME_SCHEME: Final[Mapping[str, str]] = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}

RECEIVED: Final = "received://"
"""How the locations of tables begin that others share with us."""

_FILE = "file:"
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://", re.ASCII)


def normalize_location(location: str) -> str:
    """Return a location in the one form that compares: absolute path or URL.

    A `file:` URL becomes the path it names, of this machine by no name or the name
    `localhost`; a relative path starts at the working folder.

    Source: RFC 8089, "The file URI Scheme".
    """
    text = os.fspath(location).strip()
    if not text:
        raise LocationInvalidError(location=text, reason="it is empty")
    if len(text) > MAX_LOCATION_LENGTH or "\0" in text:
        reason = "it is too long, or holds a NUL"
        raise LocationInvalidError(location=text[:80], reason=reason)
    if text[: len(_FILE)].lower() == _FILE:
        text = _file_path(text)
    elif _URL.match(text):
        return _normalize_url(text)
    return os.path.abspath(text)  # noqa: PTH100  # also removes `..`, links unread


def _file_path(text: str) -> str:
    try:
        parts = urlsplit(text)
    except ValueError:
        raise LocationInvalidError(location=text, reason="it is not a URL") from None
    if parts.netloc.lower() not in {"", "localhost"}:
        raise LocationInvalidError(location=text, reason="it names another host")
    return unquote(parts.path) or "/"


def is_local(place: str) -> bool:
    """Tell whether a normalized location is a path of this machine."""
    return place.startswith("/")


def _normalize_url(text: str) -> str:
    scheme, _, rest = text.partition("://")
    if not rest.strip("/"):
        raise LocationInvalidError(location=text, reason="it names no bucket or host")
    return normalize(f"{scheme.lower()}://{rest}").rstrip("/")


def same_scheme(place: str) -> str:
    """Return a URL with the one scheme of those that mean the same storage."""
    scheme, separator, rest = place.partition("://")
    return f"{SAME_SCHEME.get(scheme, scheme)}{separator}{rest}"


def without_credentials(url: str) -> str:
    """Return a URL without the user and password in it."""
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    if user and ":" not in user:
        host = parts.netloc  # the container of an Azure URL stands there
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
