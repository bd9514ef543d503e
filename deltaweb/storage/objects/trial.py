"""Whether a storage can be used as it is meant to be: listed, read and written.

It is tried when its connection is added, not when the first table of it is opened.
"""

import difflib
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from deltaweb.delta.errors import LocationUnsupportedError
from deltaweb.storage.location import same_scheme, without_credentials
from deltaweb.storage.objects.creation import check_creates
from deltaweb.storage.objects.driver import (
    DRIVERS,
    OWN_OPTIONS,
    driver_faults,
    fault_of,
    open_driver,
)
from deltaweb.storage.objects.scan import first_object

# What drivers pass on, or take without saying so.
MORE_OPTIONS: Final = frozenset({"profile", "use_listings_cache"}) | OWN_OPTIONS
S3_CLIENT: Final = frozenset(
    {
        *("region_name", "endpoint_url", "verify", "use_ssl", "api_version"),
        *("aws_access_key_id", "aws_secret_access_key", "aws_session_token"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a storage let us do.

    Attributes:
        was_read: Whether reading worked; null if there was nothing to read.
    """

    was_read: bool | None
    was_written: bool | None


def try_storage(root: str, options: Mapping[str, Any], *, is_written: bool) -> Trial:
    """List, read and, where asked, write below a URL.

    Args:
        is_written: Whether a file is made there, and deleted again.
    """
    found = first_object(root, options)
    shown, place = without_credentials(root), same_scheme(root)
    fs = open_driver(root, options)
    with driver_faults(partial(fault_of, location=shown, fs=fs)):
        if found is not None:
            bucket = place.partition("://")[2].partition("/")[0]
            scheme = place.partition("://")[0]
            fs.cat_file(f"{scheme}://{bucket}/{found}", start=0, end=1)
        if is_written:
            check_creates(fs, place, access="trial", shown=shown)
    return Trial(was_read=found is not None or None, was_written=is_written or None)


def unknown_option(scheme: str, keys: Iterable[str]) -> tuple[str, str] | None:
    """Return the first option that a driver does not have, and the nearest it has.

    Args:
        keys: The options; a dot leads into one that is a mapping.
    """
    from fsspec import get_filesystem_class  # noqa: PLC0415  # as in `driver`

    try:
        driver = get_filesystem_class(scheme)
    except (ImportError, ValueError):
        raise LocationUnsupportedError(
            location=f"{scheme}://", scheme=scheme, package=DRIVERS.get(scheme, "")
        ) from None
    known = {*MORE_OPTIONS, *_parameters(driver)}
    for key in keys:
        outer, _, inner = key.partition(".")
        if outer not in known:
            return key, _nearest(outer, known)
        is_of_client = outer == "client_kwargs" and DRIVERS.get(scheme) == "s3fs"
        if is_of_client and inner not in S3_CLIENT:
            near = _nearest(inner, S3_CLIENT)
            return key, f"{outer}.{near}" if near else ""
    return None


def _parameters(driver: type) -> set[str]:
    found: set[str] = set()
    for kind in driver.__mro__:
        if "__init__" in vars(kind) and kind is not object:
            found |= inspect.signature(kind.__init__).parameters.keys()  # type: ignore[misc]
    return found - {"self", "args", "kwargs"}


def _nearest(name: str, known: Iterable[str]) -> str:
    return next(iter(difflib.get_close_matches(name, sorted(known), 1, 0.5)), "")
