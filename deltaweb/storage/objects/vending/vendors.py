"""Credentials of folders by the store that has them: one file a kind of store.

    s3       a role of AWS, and of what speaks its STS, narrowed by a session policy
    r2       Cloudflare's own keys for a while, which its API makes
    azure    a shared access signature of a directory, by a user delegation key
    google   a service account's token, narrowed by a credential access boundary

Whoever wants such credentials asks `open_vendor`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from deltaweb.storage.location import SAME_SCHEME, is_local, normalize_location
from deltaweb.storage.objects.vending.azure import AzureVendor
from deltaweb.storage.objects.vending.credentials import Folder, FolderVendor
from deltaweb.storage.objects.vending.errors import VendingUnsupportedError
from deltaweb.storage.objects.vending.google import GoogleVendor
from deltaweb.storage.objects.vending.options import R2_TOKEN_OPTION
from deltaweb.storage.objects.vending.r2 import R2Vendor
from deltaweb.storage.objects.vending.s3 import S3Vendor
from deltaweb.storage.signing.signer import AZURE_SCHEMES, GCS_SCHEMES, S3_SCHEMES

_VENDORS: Final[Mapping[str, Callable[[Folder], FolderVendor]]] = {
    **dict.fromkeys(AZURE_SCHEMES, AzureVendor),
    **dict.fromkeys(GCS_SCHEMES, GoogleVendor),
    **dict.fromkeys(S3_SCHEMES, S3Vendor),
}


def open_vendor(location: str, options: Mapping[str, Any]) -> FolderVendor:
    """Return what makes the credentials of a folder; ask nobody."""
    place = normalize_location(location).rstrip("/")
    written, _, rest = place.partition("://")
    scheme = SAME_SCHEME.get(written, written)
    bucket, _, prefix = rest.partition("/")
    make = None if is_local(place) else _VENDORS.get(scheme)
    if make is None:
        reason = "it is not on S3, R2, Azure or Google Cloud Storage"
        raise VendingUnsupportedError(location=place, reason=reason)
    if not prefix:
        raise VendingUnsupportedError(location=place, reason="it is a whole bucket")
    if make is S3Vendor and options.get(R2_TOKEN_OPTION):
        make = R2Vendor
    place = f"{scheme}://{rest}"
    folder = Folder(location=place, bucket=bucket, prefix=prefix, options=options)
    return make(folder)
