"""Credentials of folders by the store that has them: one file a kind of store.

    s3       a role of AWS, and of what speaks its STS, narrowed by a session policy
    r2       Cloudflare's own keys for a while, which its API makes
    azure    a shared access signature of a directory, by a user delegation key
    google   a service account's token, narrowed by a credential access boundary

Whoever wants such credentials asks `open_vendor`.
"""

from collections.abc import Mapping
from typing import Any

from deltaweb.storage.location import (
    AZURE_SCHEMES,
    GCS_SCHEMES,
    S3_SCHEMES,
    SAME_SCHEME,
    is_local,
    normalize_location,
)
from deltaweb.storage.objects import vending
from deltaweb.storage.objects.vending.credentials import Folder, FolderVendor
from deltaweb.storage.objects.vending.errors import VendingUnsupportedError
from deltaweb.storage.objects.vending.options import R2_TOKEN_OPTION


def open_vendor(location: str, options: Mapping[str, Any]) -> FolderVendor:
    """Return what makes the credentials of a folder; ask nobody."""
    place = normalize_location(location).rstrip("/")
    written, _, rest = place.partition("://")
    scheme = SAME_SCHEME.get(written, written)
    bucket, _, prefix = rest.partition("/")
    if is_local(place) or scheme not in S3_SCHEMES | GCS_SCHEMES | AZURE_SCHEMES:
        reason = "it is not on S3, R2, Azure or Google Cloud Storage"
        raise VendingUnsupportedError(location=place, reason=reason)
    if not prefix:
        raise VendingUnsupportedError(location=place, reason="it is a whole bucket")
    place = f"{scheme}://{rest}"
    folder = Folder(location=place, bucket=bucket, prefix=prefix, options=options)
    if scheme in AZURE_SCHEMES:
        return vending.azure.AzureVendor(folder)
    if scheme in GCS_SCHEMES:
        return vending.google.GoogleVendor(folder)
    if options.get(R2_TOKEN_OPTION):
        return vending.r2.R2Vendor(folder)
    return vending.s3.S3Vendor(folder)
