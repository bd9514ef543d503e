"""Which hosts this server asks: none of its own machine or network, unless named.

Whoever types an address lets the server send requests there, so every address that
comes from people or from other servers is looked at here.
"""

import ipaddress
import socket
from collections.abc import Sequence
from typing import Final

ANY_PUBLIC: Final = "*"
_NOT_NAMED: Final = "it is not one of those allowed"
_INSIDE: Final = "it is on this machine or in a private network"


def refusal(host: str, *, allowed: Sequence[str]) -> str:
    """Return why a host may not be asked, in half a sentence; "" where it may.

    Args:
        host: A name or an address, in small letters and without brackets.
        allowed: Hosts, `.example.org` for all below one, networks such as
            10.0.0.0/8, or `*` for every public one; none is as `*` alone.
    """
    return _refusal(host, _addresses(host), allowed)


def allowed_addresses(host: str, *, allowed: Sequence[str]) -> tuple[list[str], str]:
    """Return the addresses to connect to, and why there are none.

    The name is looked up once: who connects to these addresses cannot be led elsewhere
    by a second answer of the name's owner.

    Args:
        host: As `refusal` takes it.
        allowed: The same.
    """
    found = _addresses(host)
    if reason := _refusal(host, found, allowed):
        return [], reason
    return [str(one) for one in found], "" if found else "its name is not known"


def _refusal(
    host: str,
    found: Sequence[ipaddress.IPv4Address | ipaddress.IPv6Address],
    allowed: Sequence[str],
) -> str:
    if _is_named(host, found, allowed):
        return ""
    if allowed and ANY_PUBLIC not in allowed:
        return _NOT_NAMED
    return "" if all(address.is_global for address in found) else _INSIDE


def _is_named(
    host: str,
    found: Sequence[ipaddress.IPv4Address | ipaddress.IPv6Address],
    allowed: Sequence[str],
) -> bool:
    for name in allowed:
        if name == host or (name.startswith(".") and f".{host}".endswith(name)):
            return True
        try:
            network = ipaddress.ip_network(name)
        except ValueError:
            continue
        if found and all(address in network for address in found):
            return True
    return False


def _addresses(
    host: str,
) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """Return the addresses of a host; none of one that is not known here."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(_plain(str(one[4][0])) for one in found))


def _plain(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    address = ipaddress.ip_address(text.partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None)
    return address if mapped is None else mapped
