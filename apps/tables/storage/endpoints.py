"""Which hosts a storage connection may lead to: none of the server's own network.

Whoever types the address of a store lets the server send requests there. Hosts of the
machine and of private networks are refused unless `DELTAWEB_STORAGE_HOSTS` names them;
once it names any, these alone are allowed, and `*` is every public one.
"""

import ipaddress
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from deltaweb.web.tables.storage.errors import StorageHostError

ANY_PUBLIC: Final = "*"
_URL: Final = re.compile(
    r"https?://(?:[^/@;\s]*@)?(\[[^\]]+\]|[^/:;\s]+)", re.IGNORECASE
)
_HOST_OPTIONS: Final = frozenset({"account_host"})
_EMULATOR: Final = "usedevelopmentstorage=true"
_SUFFIX: Final = re.compile(r"EndpointSuffix=([^;\s]+)", re.IGNORECASE)


_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class CheckedHost:
    """A host that may be asked.

    Attributes:
        addresses: What its name meant when it was checked; none if it is not known.
        is_named: Whether it was allowed by name, and not as any public one.
    """

    addresses: list[_Address]
    is_named: bool


def check_endpoints(options: Mapping[str, Any], *, allowed: Sequence[str]) -> None:
    """Refuse options that lead to a host that is not allowed.

    Args:
        options: From `options.resolve`.
        allowed: Hosts, `.example.org` for all below one, networks such as
            10.0.0.0/8, or `*`; none is as `*` alone.

    Raises:
        StorageHostError: Naming the host.
    """
    for host in dict.fromkeys(_hosts(options)):
        check_host(host, allowed=allowed)


def check_host(host: str, *, allowed: Sequence[str]) -> CheckedHost:
    """Return where a host is, unless this server does not ask it.

    Args:
        host: Its name or address.
        allowed: As in `check_endpoints`.

    Raises:
        StorageHostError: Naming the host.
    """
    addresses = _addresses(host)
    if _is_named(host, addresses, allowed):
        return CheckedHost(addresses, is_named=True)
    if allowed and ANY_PUBLIC not in allowed:
        raise StorageHostError(host=host, reason="it is not one of those allowed")
    if not all(address.is_global for address in addresses):
        reason = "it is on this machine or in a private network"
        raise StorageHostError(host=host, reason=reason)
    return CheckedHost(addresses, is_named=False)


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


def _is_named(host: str, addresses: Sequence[_Address], allowed: Sequence[str]) -> bool:
    for name in allowed:
        if name == host or (name.startswith(".") and f".{host}".endswith(name)):
            return True
        try:
            network = ipaddress.ip_network(name)
        except ValueError:
            continue
        if addresses and all(address in network for address in addresses):
            return True
    return False


def _addresses(host: str) -> list[_Address]:
    """Return the addresses of a host; none of one that is not known here."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [_plain(str(one[4][0])) for one in found]


def _plain(text: str) -> _Address:
    address = ipaddress.ip_address(text.partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None)
    return address if mapped is None else mapped
