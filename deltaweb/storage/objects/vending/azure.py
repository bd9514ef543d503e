"""Temporary credentials of Azure: a shared access signature of one directory.

A service principal, or who the machine is signed on as, gets a user delegation key for
as long, and the signature is made with it: read and list below the directory, by https
alone. Azure keeps directories where the account has a hierarchical namespace; elsewhere
a signature covers a blob or the whole container, and none is made.

Source: Microsoft, "Create a user delegation SAS".
"""

from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from deltaweb.storage.objects.vending.credentials import (
    Folder,
    FolderCredentials,
    SASToken,
)
from deltaweb.storage.objects.vending.errors import (
    VendingRefusedError,
    VendingUnsupportedError,
)
from deltaweb.storage.signing.azure import (
    AzureAccount,
    azure_option,
    cloud_of,
    read_account,
    split_host,
)
from deltaweb.storage.signing.errors import SigningKeyNeededError

MAX_LIFETIME_S: Final = 3600
CLOCK_SKEW: Final = timedelta(minutes=5)
WANTED: Final = (
    "Give the principal of the storage connection the roles Storage Blob Delegator and"
    " Storage Blob Data Reader, and the connection the account_key"
)
FLAT: Final = (
    "its account has no hierarchical namespace, so a signature covers one blob or the"
    " whole container"
)
_LIMITS: Final[Mapping[str, Any]] = {
    "connection_timeout": 5,
    "read_timeout": 5,
    "retry_total": 0,
}  # a recipient waits meanwhile
_PRINCIPAL: Final = ("tenant_id", "client_id", "client_secret")


class AzureVendor:
    """Signs with a user delegation key; see `FolderVendor`."""

    min_lifetime_s = 60

    def __init__(self, folder: Folder) -> None:
        container, host = split_host(folder.bucket)
        try:
            self._account = read_account(folder.location, folder.options, host)
        except SigningKeyNeededError as error:
            raise VendingUnsupportedError(
                location=folder.location, reason=error.wanted
            ) from None
        has_principal = all(azure_option(folder.options, name) for name in _PRINCIPAL)
        if not has_principal and folder.options.get("anon") is not False:
            reason = (
                "its storage connection names no service principal"
                f" ({', '.join(_PRINCIPAL)}; or anon=false for the machine's identity)"
            )
            raise VendingUnsupportedError(location=folder.location, reason=reason)
        self._folder, self._container = folder, container
        name, blob_host = self._account.name, urlsplit(self._account.blob_url).netloc
        dfs_host = blob_host.replace(f"{name}.blob.", f"{name}.dfs.", 1)
        dfs_host = host if cloud_of(host) else dfs_host
        self.location = f"abfss://{container}@{dfs_host}/{folder.prefix}"

    def vend(self, *, lifetime_s: int, now: datetime) -> FolderCredentials:
        """Return the signature of a directory; see `FolderVendor`."""
        from azure.core.exceptions import AzureError  # noqa: PLC0415 (comes with adlfs, few need it)
        from azure.storage.blob import BlobSasPermissions, generate_blob_sas  # noqa: PLC0415 (as above)

        ends_at = (now + _lifetime(lifetime_s, self.min_lifetime_s)).astimezone(UTC)
        ends_at = ends_at.replace(microsecond=0)
        try:
            with closing(_credential(self._folder.options)) as principal:
                if not self._has_directories(_key_of(self._account) or principal):
                    raise VendingUnsupportedError(
                        location=self._folder.location, reason=FLAT
                    )
                with self._client(principal) as client:
                    key = client.get_user_delegation_key(now - CLOCK_SKEW, ends_at)
            text = generate_blob_sas(
                self._account.name,
                self._container,
                self._folder.prefix,
                user_delegation_key=key,
                permission=BlobSasPermissions(read=True, list=True),
                expiry=ends_at,
                protocol="https",
                is_directory=True,
            )
        except (AzureError, ValueError) as error:
            code = getattr(error, "error_code", None) or type(error).__name__
            raise VendingRefusedError(
                location=self._folder.location,
                answer=str(getattr(code, "value", code)),
                wanted=WANTED,
            ) from None
        return FolderCredentials(
            location=self.location, secret=SASToken(text), expires_at=ends_at
        )

    def _has_directories(self, credential: Any) -> bool:  # noqa: ANN401 (a key or a principal)
        """Whether the account has a hierarchical namespace.

        Its key may ask; a principal may where a role holds `blobServices/getInfo`.
        """
        with self._client(credential) as client:
            return bool(client.get_account_information().get("is_hns_enabled"))

    def _client(self, credential: Any) -> Any:  # noqa: ANN401 (as above; loaded where it is needed)
        from azure.storage.blob import BlobServiceClient  # noqa: PLC0415 (as above)

        return BlobServiceClient(
            self._account.blob_url,
            credential=credential,
            **_LIMITS,
        )


def _lifetime(lifetime_s: int, min_s: int) -> timedelta:
    return timedelta(seconds=min(max(lifetime_s, min_s), MAX_LIFETIME_S))


def _key_of(account: AzureAccount) -> dict[str, str] | None:
    if not account.key:
        return None
    return {"account_name": account.name, "account_key": account.key}


def _credential(options: Mapping[str, Any]) -> Any:  # noqa: ANN401 (one of the kinds of azure-identity)
    """Return who asks: the service principal of the options, or the machine's own."""
    from azure.identity import ClientSecretCredential, DefaultAzureCredential  # noqa: PLC0415 (comes with adlfs)

    tenant_id, client_id, secret = (azure_option(options, name) for name in _PRINCIPAL)
    if not secret:
        return DefaultAzureCredential(**_LIMITS)
    # Which authority is asked is said by the machine alone (AZURE_AUTHORITY_HOST), so
    # nobody else need vouch for it.
    return ClientSecretCredential(
        tenant_id, client_id, secret, disable_instance_discovery=True, **_LIMITS
    )
