"""Shared access signatures of Azure: one a blob, by the key of the account.

Source: Microsoft, "Create a service SAS", version 2020-12-06 and later.
"""

import base64
import binascii
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import parse_qs, quote

from deltaweb.delta.errors import LocationInvalidError
from deltaweb.storage.location import AZURE_ACCOUNT, without_credentials
from deltaweb.storage.signing.errors import SigningKeyNeededError
from deltaweb.storage.signing.hmac_states import Numbers, Texts, as_list, hmac_states
from deltaweb.storage.signing.url_quoting import quote_paths

VERSION: Final = "2021-12-02"
WANTED_KEY: Final = "the option account_key (or connection_string) is missing or wrong"
WANTED_NAME: Final = "neither the location nor the option account_name says the account"
# A token of the owner's covers more than one file, so handing it out is asked for.
HAND_OUT_OPTION: Final = "hand_out_sas_token"
WANTED_TOKEN: Final = (
    "a sas_token would give recipients all that it covers; give account_key, or set"
    f" {HAND_OUT_OPTION}=true to do so"
)
CLOUDS: Final = frozenset(
    {
        *("core.windows.net", "core.chinacloudapi.cn", "core.usgovcloudapi.net"),
        *("core.cloudapi.de", "storage.azure.net", "fabric.microsoft.com"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AzureAccount:
    """Who signs.

    Attributes:
        name: The account's name, as signatures spell it.
        blob_url: Address of its blobs, without a trailing slash.
        sas_token: A token to hand out as it is, or "".
    """

    name: str
    blob_url: str
    key: str = field(default="", repr=False)
    sas_token: str = field(default="", repr=False)


class AzureSigner:
    """Signs URLs that read blobs below a prefix of a container.

    Args:
        prefix: The name of the table's root, decoded, without slashes around it.
    """

    def __init__(
        self,
        *,
        container: str,
        prefix: str,
        account: AzureAccount,
        now: datetime,
        lifetime_s: int,
    ) -> None:
        signed_at = now.astimezone(UTC).replace(microsecond=0)
        self.expires_at = signed_at + timedelta(seconds=lifetime_s)
        root = f"{container}/{prefix}/" if prefix else f"{container}/"
        protocols = "https" if account.blob_url.startswith("https:") else "https,http"
        expiry = self.expires_at.strftime("%Y-%m-%dT%H:%M:%SZ")
        self._head = f"{account.blob_url}/{quote(root, safe='/')}"
        self._tail = (
            f"?se={quote(expiry, safe='')}&sp=r&spr={quote(protocols, safe='')}"
            f"&sv={VERSION}&sr=b&sig="
        )
        self._inner, self._outer = hmac_states(base64.b64decode(account.key))
        # Rights, begin, end, and the blob, of which the rest of the path follows.
        head = f"r\n\n{expiry}\n/blob/{account.name}/{root}"
        self._inner.update(head.encode())
        # Policy, address, protocols, version, kind, snapshot, scope, five headers.
        self._rest = f"\n\n\n{protocols}\n{VERSION}\nb\n\n\n\n\n\n\n"

    def sign(self, relative_paths: Texts, sizes: Numbers) -> list[str]:
        """Return the URL of each file, of which its size is no part."""
        del sizes
        paths = as_list(relative_paths)
        head, tail, rest = self._head, self._tail, self._rest
        inner_state, outer_state = self._inner, self._outer
        urls = []
        for path, quoted in zip(paths, quote_paths(paths), strict=True):
            inner, outer = inner_state.copy(), outer_state.copy()
            inner.update(f"{path}{rest}".encode())
            outer.update(inner.digest())
            digest = binascii.b2a_base64(outer.digest(), newline=False).decode("ascii")
            signature = digest.replace("+", "%2B").replace("/", "%2F")[:-1]
            urls.append(f"{head}{quoted}{tail}{signature}%3D")
        return urls


def find_account(
    location: str, options: Mapping[str, Any], host: str = ""
) -> AzureAccount:
    account = read_account(location, options, host)
    if account.key and not _is_base64(account.key):
        raise SigningKeyNeededError(location=location, wanted=WANTED_KEY)
    if not account.key and account.sas_token and not options.get(HAND_OUT_OPTION):
        raise SigningKeyNeededError(location=location, wanted=WANTED_TOKEN)
    if not account.key and not account.sas_token and not options.get("anon"):
        raise SigningKeyNeededError(location=location, wanted=WANTED_KEY)
    return account


def read_account(
    location: str, options: Mapping[str, Any], host: str = ""
) -> AzureAccount:
    """Return the account of a location and its options, as adlfs takes them.

    Args:
        host: The host of the location, such as `account.dfs.core.windows.net`, or "".
    """
    parts = _connection(azure_option(options, "connection_string"))
    name = account_of(location, host)
    name = name or azure_option(options, "account_name") or parts.get("accountname", "")
    if not name:
        raise SigningKeyNeededError(location=location, wanted=WANTED_NAME)
    suffix = cloud_of(host) or parts.get("endpointsuffix") or "core.windows.net"
    protocol = parts.get("defaultendpointsprotocol") or "https"
    blob_url = parts.get("blobendpoint") or f"{protocol}://{name}.blob.{suffix}"
    return AzureAccount(
        name=name,
        blob_url=blob_url.rstrip("/"),
        key=azure_option(options, "account_key") or parts.get("accountkey", ""),
        sas_token=azure_option(options, "sas_token")
        or parts.get("sharedaccesssignature", ""),
    )


def account_of(location: str, host: str) -> str:
    """Return the account that a host of a location begins with, "" without a host.

    Raises:
        LocationInvalidError: No account has that name: a driver, which puts it into an
            address, would ask another host.
    """
    name = host.partition(".")[0]
    if name and not AZURE_ACCOUNT.fullmatch(name):
        reason = f"{name[:80]!r} is not the name of an Azure account"
        raise LocationInvalidError(
            location=without_credentials(location), reason=reason
        )
    return name


def cloud_of(host: str) -> str:
    """Return what follows `account.dfs.` in a host of a location, "" for another's.

    The driver reads the blobs of no other host: whoever registers a table names none
    that the keys and tokens of its connection are sent to.
    """
    suffix = host.partition(".")[2].partition(".")[2]
    return suffix if suffix in CLOUDS else ""


def token_expiry(sas_token: str) -> datetime | None:
    """Return the end of a token's life; None where it tells none that is a time."""
    values = parse_qs(sas_token.lstrip("?")).get("se", [""])
    try:
        moment = datetime.fromisoformat(values[0])
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def split_host(netloc: str) -> tuple[str, str]:
    """Return the container and the host of a URL's authority, "" without a host."""
    container, at, host = netloc.rpartition("@")
    return (container, host) if at else (host, "")


def azure_option(options: Mapping[str, Any], name: str) -> str:
    """Return an option, or else the variable that adlfs reads in its place."""
    return str(
        options.get(name) or os.environ.get(f"AZURE_STORAGE_{name.upper()}") or ""
    )


def _connection(text: str) -> dict[str, str]:
    """Return the parts of a connection string by their names in small letters."""
    pairs = (part.partition("=") for part in text.split(";") if part.strip())
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _is_base64(text: str) -> bool:
    try:
        return bool(base64.b64decode(text, validate=True))
    except binascii.Error:
        return False
