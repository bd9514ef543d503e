"""Prefixes of URLs: which of them hold a location, however both are spelt.

They match by whole names: `s3://bucket/a` holds `s3://bucket/a/t`, and not
`s3://bucket/ab`. `s3://` holds every bucket.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from deltaweb.storage.location import normalize_location

# Schemes that mean the same storage.
SAME_SCHEME: Final[Mapping[str, str]] = {
    "abfss": "abfs",
    "az": "abfs",
    "gcs": "gs",
    "s3a": "s3",
    "s3n": "s3",
    "wasb": "abfs",
    "wasbs": "abfs",
}
ANY_STORE: Final = ("abfs://", "adl://", "gs://", "received://", "s3://")


def parts_of(url: str) -> list[str]:
    """Split a URL into its storage, its bucket, and the names below."""
    scheme, _, rest = url.partition("://")
    if rest.strip("/"):
        scheme, _, rest = normalize_location(url).partition("://")
    scheme = scheme.lower()
    names = [name for name in rest.split("/") if name]
    return [SAME_SCHEME.get(scheme, scheme), *_with_plain_host(names)]


def url_of(parts: Sequence[str]) -> str:
    """Return the URL that `parts_of` has split, in its one spelling."""
    return f"{parts[0]}://{'/'.join(parts[1:])}"


def holds(prefix: str, location: str) -> bool:
    """Whether a location is what a prefix names, or lies below it."""
    names = parts_of(prefix)
    return parts_of(location)[: len(names)] == names


def _with_plain_host(names: Sequence[str]) -> list[str]:
    """Write the host of Azure's `container@host` in small letters, as it is one."""
    if not names:
        return []
    container, at, host = names[0].rpartition("@")
    return [f"{container}{at}{host.lower() if at else host}", *names[1:]]
