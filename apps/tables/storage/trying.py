"""Storages are tried: what they let us do, and whether they answer at all."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from django.conf import settings

from apps.tables import storage
from apps.tables.models import StorageConnection
from apps.tables.storage.bounded_read import StorageSlowError, read_within
from apps.tables.storage.connections import parse_prefix
from apps.tables.storage.endpoints import check_endpoints, confined
from apps.tables.storage.errors import StorageOptionError
from apps.tables.storage.options import resolve
from deltaweb.delta.errors import LocationUnreachableError
from deltaweb.storage.objects.driver import DRIVERS
from deltaweb.storage.objects.scan import first_object
from deltaweb.storage.objects.trial import Trial, try_storage, unknown_option
from deltaweb.storage.spellings import parts_of

TRIAL_S: Final = 10.0  # a slow one is no dead one
T = TypeVar("T")


def try_connection(
    prefix: str,
    options: Mapping[str, str],
    *,
    name: str,
    is_asked: bool = True,
    is_written: bool = False,
) -> Trial | None:
    """List, read and, where asked, write below a prefix before it is kept.

    None is of a prefix that names no bucket, where there is nothing to list, and of
    one whose storage is not to be asked: then its options alone are looked at.
    """
    place = parse_prefix(prefix)
    resolved = check_options(place, options, name=name)
    if not is_asked or len(parts_of(place)) == 1:
        return None
    return _soon(place, lambda: try_storage(place, resolved, is_written=is_written))


def try_again(connection: StorageConnection, *, is_written: bool) -> Trial | None:
    """Try a connection that is kept."""
    options = storage.sealing.unseal(connection.sealed, storage=connection.name)
    return try_connection(
        connection.prefix, options, name=connection.name, is_written=is_written
    )


def reach(location: str, options: Mapping[str, Any]) -> None:
    """Ask a store for anything below a URL, or say soon why it does not tell."""
    _soon(location, lambda: first_object(location, options))


def _soon(place: str, ask: Callable[[], T]) -> T:
    try:
        return read_within(ask, timeout_s=TRIAL_S)
    except StorageSlowError:
        reason = f"nothing answers within {TRIAL_S:g} seconds"
        raise LocationUnreachableError(location=place, reason=reason) from None


def check_options(
    prefix: str, options: Mapping[str, str], *, name: str
) -> dict[str, Any]:
    """Return options as a driver takes them; it must know them all."""
    scheme = prefix.partition("://")[0]
    if (unknown := unknown_option(scheme, options)) is not None:
        key, near = unknown
        meant = f"; did you mean {near}?" if near else ""
        reason = f"{DRIVERS.get(scheme, 'its driver')} has no option {key}{meant}"
        raise StorageOptionError(reason=reason.rstrip("?"))
    resolved = resolve(options, storage=name)
    check_endpoints(resolved, allowed=settings.STORAGE_HOSTS)
    return confined(resolved, allowed=settings.STORAGE_HOSTS)
