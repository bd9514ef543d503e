"""Which hosts a storage connection may lead to: none of the server's own network.

Whoever types the address of a store lets the server send requests there. Hosts of the
machine and of private networks are refused unless `DELTAWEB_STORAGE_HOSTS` names them;
once it names any, these alone are allowed, and `*` is every public one.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from deltaweb.storage.objects.hosts import refusal
from deltaweb.web.tables.storage.errors import StorageHostError

_URL: Final = re.compile(
    r"https?://(?:[^/@;\s]*@)?(\[[^\]]+\]|[^/:;\s]+)", re.IGNORECASE
)
_HOST_OPTIONS: Final = frozenset({"account_host"})
_EMULATOR: Final = "usedevelopmentstorage=true"
_SUFFIX: Final = re.compile(r"EndpointSuffix=([^;\s]+)", re.IGNORECASE)


def check_endpoints(options: Mapping[str, Any], *, allowed: Sequence[str]) -> None:
    """Refuse options that lead to a host that is not allowed.

    Args:
        options: From `options.resolve`.
        allowed: Hosts, `.example.org` for all below one, networks such as
            10.0.0.0/8, or `*`; none is as `*` alone.
    """
    for host in dict.fromkeys(_hosts(options)):
        if reason := refusal(host, allowed=allowed):
            raise StorageHostError(host=host, reason=reason)


def are_named(options: Mapping[str, Any], *, allowed: Sequence[str]) -> bool:
    """Whether options lead to hosts, and each is allowed by its name.

    Args:
        allowed: As in `check_endpoints`; networks and `*` name nobody.
    """
    hosts = [*_hosts(options)]
    below = tuple(name for name in allowed if name.startswith("."))
    return bool(hosts) and all(
        host in allowed or f".{host}".endswith(below) for host in hosts
    )


def _hosts(options: Mapping[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        if isinstance(value, Mapping):
            yield from _hosts(value)
        elif isinstance(value, str):
            yield from (host.strip("[]").lower() for host in _URL.findall(value))
            yield from _SUFFIX.findall(value)
            if name in _HOST_OPTIONS:
                yield value.partition(":")[0].lower()
            if _EMULATOR in value.lower():
                yield "127.0.0.1"
