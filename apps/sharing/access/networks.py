"""Allow lists: the networks that a recipient may come from, as CIDR texts."""

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_interface, ip_network
from typing import Final

from apps.pages.request.addresses import parse_address
from apps.sharing.errors import NetworkInvalidError, TooManyNetworksError
from apps.sharing.models import Recipient

MAX_NETWORKS: Final = 100
EXAMPLES: Final = "Write one such as 192.0.2.0/24, 2001:db8::/48 or 192.0.2.7."
_MAPPED_BITS: Final = 96  # of an IPv6 address, before the IPv4 one that it holds


def parse_networks(texts: Iterable[str]) -> list[str]:
    """Return networks as they are stored: canonical, each once, in the given order.

    A blank item is refused: a list of nothing else would allow every address.
    """
    networks = list(dict.fromkeys(_canonical(text.strip()) for text in texts))
    if len(networks) > MAX_NETWORKS:
        raise TooManyNetworksError(count=len(networks), maximum=MAX_NETWORKS)
    return networks


def split_networks(text: str) -> list[str]:
    """Return the networks of a text, with spaces, lines or commas between them.

    A text of commas alone is returned as one item, which `parse_networks` refuses: no
    item would allow every address.
    """
    return text.replace(",", " ").split() or [text] * bool(text.strip())


def has_allow_list(recipient: Recipient) -> bool:
    """Whether a recipient may come from some addresses only."""
    return bool(recipient.allowed_networks)


def is_allowed(recipient: Recipient, address: str) -> bool:
    """Whether a recipient may come from an address; an unknown one needs no list."""
    listed = recipient.allowed_networks
    if not listed:
        return True
    parsed = parse_address(address)
    return parsed is not None and any(parsed in ip_network(text) for text in listed)


def _canonical(text: str) -> str:
    if not text:
        hint = f"{EXAMPLES} An empty list allows every address."
        raise NetworkInvalidError(text=text, reason="it is blank", hint=hint)
    try:
        network = ip_network(text)
    except ValueError as error:
        raise _refusal(text) from error
    return str(_unmapped(network))


def _refusal(text: str) -> NetworkInvalidError:
    try:
        around = ip_interface(text).network
    except ValueError:
        reason = "it is not an address, nor an address and a prefix length"
        return NetworkInvalidError(text=text, reason=reason, hint=EXAMPLES)
    address = text.partition("/")[0]
    return NetworkInvalidError(
        text=text,
        reason="it has bits set after its prefix",
        hint=f"Write {_unmapped(around)} for the network, or {address} for the "
        "one address.",
    )


def _unmapped(network: IPv4Network | IPv6Network) -> IPv4Network | IPv6Network:
    """Return an IPv4 network that is written as IPv6 as what it is."""
    if isinstance(network, IPv6Network) and network.prefixlen >= _MAPPED_BITS:
        mapped = network.network_address.ipv4_mapped
        if mapped is not None:
            return IPv4Network((int(mapped), network.prefixlen - _MAPPED_BITS))
    return network
