"""Temporary credentials of Google Cloud Storage: a token that is narrowed to a folder.

The service account of the storage connection gets a token, which the token service
trades for one that may do less: see and list the objects below the folder. It is as
good as the first, an hour. The bucket needs uniform access: Google applies no boundary
to the access lists of single objects.

Source: Google Cloud, "Downscope with Credential Access Boundaries".
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from deltaweb.environment.bounded_json import parse_json
from deltaweb.storage.objects.vending.credentials import (
    Folder,
    FolderCredentials,
    OAuthToken,
)
from deltaweb.storage.objects.vending.errors import (
    VendingRefusedError,
    VendingUnsupportedError,
)
from deltaweb.storage.objects.vending.options import STS_OPTION
from deltaweb.storage.signing.errors import SigningKeyNeededError
from deltaweb.storage.signing.gcs import find_key

STS_URL: Final = "https://sts.googleapis.com/v1/token"
TIMEOUT_S: Final = 5
SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
ROLE: Final = "inRole:roles/storage.objectViewer"
LIST_PREFIX: Final = "storage.googleapis.com/objectListPrefix"
WANTED: Final = (
    "Give the service account roles/storage.objectViewer on the bucket, and the bucket"
    " uniform access"
)
_TOKEN_TYPE: Final = "urn:ietf:params:oauth:token-type:access_token"  # noqa: S105 (a name)
_EXCHANGE: Final = "urn:ietf:params:oauth:grant-type:token-exchange"


class GoogleVendor:
    """Trades the token of a service account; see `FolderVendor`."""

    min_lifetime_s = 3600  # Google's tokens are good for an hour, and no less

    def __init__(self, folder: Folder) -> None:
        try:
            self._key = find_key(folder.location, folder.options)
        except SigningKeyNeededError:
            reason = "its storage connection has no key of a service account"
            raise VendingUnsupportedError(
                location=folder.location, reason=reason
            ) from None
        self._folder = folder
        self.location = folder.location

    def vend(self, *, lifetime_s: int, now: datetime) -> FolderCredentials:
        """Return a token of Google's, good for an hour; see `FolderVendor`."""
        del lifetime_s
        from google.auth.exceptions import GoogleAuthError  # noqa: PLC0415 (comes with gcsfs, few need it)
        from google.auth.transport.requests import Request  # noqa: PLC0415 (as above)
        from google.oauth2.service_account import Credentials  # noqa: PLC0415 (as above)
        from google.oauth2.sts import Client  # noqa: PLC0415 (as above)

        request, options = partial(Request(), timeout=TIMEOUT_S), self._folder.options
        service = Client(options.get(STS_OPTION) or STS_URL)
        boundary = folder_boundary(self._folder.bucket, self._folder.prefix)
        try:
            own = Credentials.from_service_account_info(self._key, scopes=[SCOPE])
            own.refresh(request)
            found = service.exchange_token(
                request,
                grant_type=_EXCHANGE,
                subject_token=own.token,
                subject_token_type=_TOKEN_TYPE,
                requested_token_type=_TOKEN_TYPE,
                additional_options=boundary,
            )
            token = OAuthToken(found["access_token"])
            # Told only where it is not that of the first.
            left_s = found.get("expires_in")
            expires_at = now + timedelta(seconds=int(left_s)) if left_s else own.expiry
        except (GoogleAuthError, ValueError, KeyError, TypeError) as error:
            raise VendingRefusedError(
                location=self.location, answer=_reason(error), wanted=WANTED
            ) from None
        return FolderCredentials(
            location=self.location,
            secret=token,
            expires_at=expires_at.replace(tzinfo=UTC),
        )


def folder_boundary(bucket: str, prefix: str) -> dict[str, Any]:
    """Return the boundary that holds a token to reading and listing one folder.

    Args:
        prefix: The name of the folder, without slashes around it.
    """
    below = _quoted(f"projects/_/buckets/{bucket}/objects/{prefix}/")
    listed = f"api.getAttribute('{LIST_PREFIX}', '')"
    condition = (
        f"resource.name.startsWith({below}) ||"
        f" {listed}.startsWith({_quoted(f'{prefix}/')})"
    )
    rule = {
        "availableResource": f"//storage.googleapis.com/projects/_/buckets/{bucket}",
        "availablePermissions": [ROLE],
        "availabilityCondition": {"expression": condition},
    }
    return {"accessBoundary": {"accessBoundaryRules": [rule]}}


def _quoted(text: str) -> str:
    """Return a text as CEL writes it, whose escapes are those of JSON."""
    return json.dumps(text, ensure_ascii=False)


def _reason(error: Exception) -> str:
    """Return the name of an error of OAuth, or what kind of error it is.

    What else Google says may hold what it was asked.
    """
    details: Any = error.args[1] if len(error.args) > 1 else None
    try:
        said = parse_json(details) if isinstance(details, str) else details
    except (ValueError, RecursionError):
        said = None
    name = said.get("error") if isinstance(said, Mapping) else None
    return name if isinstance(name, str) else type(error).__name__
