"""The address of a client: behind trusted proxies, or on this machine."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

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


def is_from_this_machine(request: HttpRequest) -> bool:
    """Whether a program of this machine sent a request, and no proxy passed it on.

    The server listens on a loopback address only, its public URL says so, and no
    header names a proxy. HTTP/1.0 counts as one, because nginx speaks it to a server
    unless it is told otherwise, and adds no header then.
    """
    public = urlsplit(settings.PUBLIC_URL)
    host = urlsplit(f"//{request.get_host()}").hostname
    ends = (request.META.get("REMOTE_ADDR", ""), request.META.get("SERVER_NAME", ""))
    return (
        not settings.TRUSTED_PROXIES
        and public.scheme == "http"
        and all(map(_is_loopback, (public.hostname, host, *ends)))
        and request.META.get("SERVER_PROTOCOL") != "HTTP/1.0"
        and not names_a_proxy(request)
    )


def is_from_trusted_proxy(request: HttpRequest) -> bool:
    """Whether the program that sent a request is a proxy of ours."""
    return _is_trusted(str(request.META.get("REMOTE_ADDR", "")))


def names_a_proxy(request: HttpRequest) -> bool:
    """Whether a header says that a proxy passed a request on."""
    return any(map(_is_forwarding, request.headers))


def _is_forwarding(header: str) -> bool:
    """Whether proxies add a header: `X-Forwarded-For`, `CF-Connecting-IP`, `Via`."""
    is_general = header in {"Via", "Cdn-Loop"}
    return is_general or "Forwarded" in header or header.endswith("-Ip")


def _is_loopback(host: str | None) -> bool:
    address = parse_address(host or "")
    return host == "localhost" or (address is not None and address.is_loopback)


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
