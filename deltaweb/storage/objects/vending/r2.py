"""Temporary credentials of Cloudflare R2, made by its API: they read one prefix.

The API is asked with the token in the option `vend_r2_api_token` for the account in
`vend_r2_account_id`; they are children of the key of the storage connection. Clients
use them as keys of S3.

Source: Cloudflare, "Create Temporary Access Credentials".
"""

import json
import re
from datetime import datetime, timedelta
from typing import Any, Final

import urllib3

from deltaweb.storage.objects.vending.credentials import Folder, FolderCredentials
from deltaweb.storage.objects.vending.errors import (
    VendingRefusedError,
    VendingUnsupportedError,
)
from deltaweb.storage.objects.vending.options import (
    R2_ACCOUNT_OPTION,
    R2_TOKEN_OPTION,
    STS_OPTION,
)
from deltaweb.storage.signing.s3 import S3Credentials
from deltaweb.storage.signing.s3_session import find_credentials

API_URL: Final = "https://api.cloudflare.com/client/v4"
MAX_LIFETIME_S: Final = 3600
TIMEOUT_S: Final = 5.0
WANTED: Final = (
    f"Check {R2_TOKEN_OPTION}, and that the key of the storage connection is of the"
    " same account"
)
_ACCOUNT: Final = re.compile(r"[0-9a-f]{32}", re.ASCII)


class R2Vendor:
    """Asks Cloudflare's API; see `FolderVendor`."""

    min_lifetime_s = 60

    def __init__(self, folder: Folder) -> None:
        self._account_id = str(folder.options.get(R2_ACCOUNT_OPTION) or "")
        if not _ACCOUNT.fullmatch(self._account_id):
            reason = f"{R2_ACCOUNT_OPTION} of its storage connection is not an account"
            raise VendingUnsupportedError(location=folder.location, reason=reason)
        self._folder = folder
        self.location = folder.location

    def vend(self, *, lifetime_s: int, now: datetime) -> FolderCredentials:
        """Return keys of a prefix; see `FolderVendor`."""
        options = self._folder.options
        ttl_s = min(max(lifetime_s, self.min_lifetime_s), MAX_LIFETIME_S)
        asked = {
            "bucket": self._folder.bucket,
            "parentAccessKeyId": find_credentials(self.location, options).access_key,
            "permission": "object-read-only",
            "prefixes": [f"{self._folder.prefix}/"],
            "ttlSeconds": ttl_s,
        }
        api_url = str(options.get(STS_OPTION) or API_URL).rstrip("/")
        try:
            with urllib3.PoolManager(retries=False, timeout=TIMEOUT_S) as pool:
                response = pool.request(
                    "POST",
                    f"{api_url}/accounts/{self._account_id}/r2/temp-access-credentials",
                    body=json.dumps(asked).encode(),
                    headers={
                        "Authorization": f"Bearer {options[R2_TOKEN_OPTION]}",
                        "Content-Type": "application/json",
                    },
                    redirect=False,
                )
        except urllib3.exceptions.HTTPError as error:
            raise self._refused(type(error).__name__) from None
        try:
            answer: Any = response.json()
            found = answer["result"]
            secret = S3Credentials(
                access_key=found["accessKeyId"],
                secret_key=found["secretAccessKey"],
                token=found["sessionToken"],
            )
        except (ValueError, KeyError, TypeError):
            raise self._refused(_reason(response)) from None
        return FolderCredentials(
            location=self.location,
            secret=secret,
            expires_at=now + timedelta(seconds=ttl_s),
        )

    def _refused(self, answer: str) -> VendingRefusedError:
        return VendingRefusedError(location=self.location, answer=answer, wanted=WANTED)


def _reason(response: urllib3.BaseHTTPResponse) -> str:
    """Return the status of a refusal, and the codes of Cloudflare that came with it."""
    try:
        codes = [int(error["code"]) for error in response.json()["errors"]]
    except (ValueError, KeyError, TypeError):
        codes = []
    return ", ".join([f"status {response.status}", *(f"code {code}" for code in codes)])
