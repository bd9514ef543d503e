"""The address that a request comes from, behind proxies that are trusted."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

from django.conf import settings
from django.http import HttpRequest

Address = IPv4Address | IPv6Address
IPV6_NETWORK_BITS: Final = 64  # what one customer of a provider has at least
UNKNOWN: Final = "unknown"


def client_address(request: HttpRequest) -> str:
    """Return the nearest address that is no trusted proxy of ours.

    `X-Forwarded-For` is read from its end, and only as far as the proxies named by
    `DELTAWEB_TRUSTED_PROXIES` wrote it: whatever a caller puts before that is a claim.
    """
    address = str(request.META.get("REMOTE_ADDR", ""))
    claims = request.headers.get("X-Forwarded-For", "").split(",")
    while claims and _is_trusted(address):
        claim = claims.pop().strip()
        if parse_address(claim) is None:
            break
        address = claim
    parsed = parse_address(address)
    return "" if parsed is None else str(parsed)


def parse_address(text: str) -> Address | None:
    """Return an address, an IPv4 one that is written as IPv6 as what it is."""
    try:
        parsed = ip_address(text.strip())
    except ValueError:
        return None
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return mapped or parsed


def network_of(address: str) -> str:
    """Return what stands for everybody behind an address: it, or its IPv6 network."""
    parsed = parse_address(address)
    if parsed is None:
        return UNKNOWN
    if isinstance(parsed, IPv6Address):
        return str(ip_network((int(parsed), IPV6_NETWORK_BITS), strict=False))
    return str(parsed)


def _is_trusted(address: str) -> bool:
    parsed = parse_address(address)
    proxies = (ip_network(text) for text in settings.TRUSTED_PROXIES)
    return parsed is not None and any(parsed in network for network in proxies)
