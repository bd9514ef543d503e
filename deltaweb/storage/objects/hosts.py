"""Which hosts this server asks: none of its own machine or network, unless named.

Whoever types an address lets the server send requests there, so every address that
comes from people or from other servers is looked at here.
"""

import ipaddress
import socket
from collections.abc import Sequence
from typing import Final

ANY_PUBLIC: Final = "*"
ALLOWED_HOSTS: Final = "allowed_hosts"
"""An option of stores: which hosts drivers may connect to, as `refusal` takes them.

Those of connections have it; where a program opens a store, it names the host itself.
"""
_NOT_NAMED: Final = "it is not one of those allowed"
_INSIDE: Final = "it is on this machine or in a private network"
_WITH_IPV4: Final = tuple(
    map(
        ipaddress.IPv6Network,
        ("64:ff9b::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "::/96"),
    )
)
"""Whose last 32 bits are an IPv4 address that a translator or the machine goes to.

Source: RFC 6052, 2.1; RFC 4291, 2.5.5; RFC 7915.
"""
_NEVER_PUBLIC: Final[tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]] = (
    *map(ipaddress.IPv4Network, ("192.0.0.0/24", "192.88.99.0/24")),
    *map(ipaddress.IPv6Network, ("2001::/23", "2002::/16", "3fff::/20")),
)
"""Protocols' own addresses, relays and examples: `is_global` of some Pythons has them.

Source: IANA, IPv4 and IPv6 Special-Purpose Address Registries.
"""
_UNICAST: Final = ipaddress.IPv6Network("2000::/3")
"""All that is assigned to public hosts of IPv6; the rest is special or not in use.

Source: IANA, Internet Protocol Version 6 Address Space.
"""
_OF_THE_CLOUD: Final = ipaddress.IPv4Address("168.63.129.16")
"""Public by its number; each machine of Azure reaches its own host there.

Source: Microsoft, "What is IP address 168.63.129.16?".
"""
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def refusal(host: str, *, allowed: Sequence[str]) -> str:
    """Return why a host may not be asked, in half a sentence; "" where it may.

    Args:
        host: A name or an address, in small letters and without brackets.
        allowed: Hosts, `.example.org` for all below one, networks such as
            10.0.0.0/8, or `*` for every public one; none is as `*` alone.
    """
    return _refusal(host, list(_addresses(host).values()), allowed)


def refusal_at(host: str, addresses: Sequence[str], *, allowed: Sequence[str]) -> str:
    """Return the same of a host whose addresses were looked up already."""
    found = [_plain(ipaddress.ip_address(one.partition("%")[0])) for one in addresses]
    return _refusal(host, found, allowed)


def is_named(host: str, *, allowed: Sequence[str]) -> bool:
    """Return whether a host is allowed by its name; networks and `*` name nobody."""
    below = tuple(name for name in allowed if name.startswith("."))
    return host in allowed or f".{host}".endswith(below)


def allowed_addresses(host: str, *, allowed: Sequence[str]) -> tuple[list[str], str]:
    """Return the addresses to connect to, and why there are none.

    The name is looked up once: who connects to these addresses cannot be led elsewhere
    by a second answer of the name's owner.
    """
    found = _addresses(host)
    if reason := _refusal(host, list(found.values()), allowed):
        return [], reason
    return list(found), "" if found else "its name is not known"


def _refusal(
    host: str,
    found: Sequence[_Address],
    allowed: Sequence[str],
) -> str:
    if is_named(host, allowed=allowed) or _is_in_network(found, allowed):
        return ""
    if allowed and ANY_PUBLIC not in allowed:
        return _NOT_NAMED
    return "" if all(map(is_public, found)) else _INSIDE


def is_public(address: _Address) -> bool:
    """Return whether an address leads to a public host, the same by every Python."""
    address = _plain(address)
    is_inside = (
        address == _OF_THE_CLOUD
        or (address.version == _UNICAST.version and address not in _UNICAST)
        or any(address in network for network in _NEVER_PUBLIC)
    )
    return address.is_global and not address.is_multicast and not is_inside


def _is_in_network(found: Sequence[_Address], allowed: Sequence[str]) -> bool:
    for name in allowed:
        try:
            network = ipaddress.ip_network(name)
        except ValueError:
            continue
        if found and all(address in network for address in found):
            return True
    return False


def _addresses(host: str) -> dict[str, _Address]:
    """Return the addresses of a host, each with the one that it leads to.

    A network that has IPv6 alone reaches every IPv4 host by such an address, so it is
    connected to as it is. There are none of a host that is not known here.
    """
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return {}
    texts = (str(one[4][0]).partition("%")[0] for one in found)
    return {text: _plain(ipaddress.ip_address(text)) for text in texts}


def _plain(address: _Address) -> _Address:
    if any(address in network for network in _WITH_IPV4) and int(address) > 1:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address
