"""Which hosts a storage connection may lead to: none of the server's own network.

Whoever types the address of a store lets the server send requests there. Hosts of the
machine and of private networks are refused unless `DELTAWEB_STORAGE_HOSTS` names them;
once it names any, these alone are allowed, and `*` is every public one.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from apps.tables.storage.errors import StorageHostError
from deltaweb.storage.location import AZURE_ACCOUNT
from deltaweb.storage.objects.hosts import ALLOWED_HOSTS, refusal

_URL: Final = re.compile(
    # Of a connection string, an address ends with its part.
    r"https?://(?:[^/?#@;\s]*@)?(\[[^\]]+\]|[^/?#:;\s]+)",
    re.IGNORECASE,
)
_EMULATOR: Final = "usedevelopmentstorage=true"
_PARTS: Final = re.compile(
    r"(?:AccountName|EndpointSuffix)\s*=\s*([^;\s]+)", re.IGNORECASE
)
_PART_OPTIONS: Final = frozenset({"account_host", "account_name"})


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


def confined(options: Mapping[str, Any], *, allowed: Sequence[str]) -> dict[str, Any]:
    """Return options by which drivers connect to no other host than is allowed.

    Where they name none, drivers ask the cloud's own, or the one that this server's
    environment names: these may well be inside, as private endpoints of a cloud are.

    Args:
        options: As in `check_endpoints`; so is `allowed`.
    """
    hosts = {ALLOWED_HOSTS: tuple(allowed)} if any(_hosts(options)) else {}
    return {**options, **hosts}


def _hosts(options: Mapping[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        if isinstance(value, Mapping):
            yield from _hosts(value)
        elif isinstance(value, str):
            parts = [
                *_PARTS.findall(value),
                *([value] if name in _PART_OPTIONS else []),
            ]
            # What is put into an address may begin one of its own.
            made = [
                f"https://{one}/" for one in parts if not AZURE_ACCOUNT.fullmatch(one)
            ]
            for found in _URL.findall(" ".join([value, *made])):
                yield found.strip("[]").lower()
            if _EMULATOR in value.lower():
                yield "127.0.0.1"
