"""Temporary credentials of S3: a role, narrowed to one folder by a session policy.

The role is the option `vend_role_arn` of the storage connection, whose own key may
assume it. What comes out may do what both the role and the policy allow: get what lies
below the folder, and list that.

Source: AWS, "AssumeRole" and "Session policies".
"""

import json
from datetime import datetime
from typing import Any, Final

from deltaweb.storage.objects.vending.credentials import Folder, FolderCredentials
from deltaweb.storage.objects.vending.errors import (
    VendingRefusedError,
    VendingUnsupportedError,
)
from deltaweb.storage.objects.vending.options import ROLE_OPTION, STS_OPTION
from deltaweb.storage.signing.s3 import S3Credentials
from deltaweb.storage.signing.s3_session import (
    find_credentials,
    find_endpoint,
    new_sts_client,
)

MAX_LIFETIME_S: Final = 3600
SESSION_NAME: Final = "deltaweb"
WANTED: Final = "Check the role of the storage connection, and whom it trusts"
_WILDCARDS: Final = frozenset("*?$")


class S3Vendor:
    """Assumes a role; see `FolderVendor`."""

    min_lifetime_s = 900  # AWS gives none that are shorter

    def __init__(self, folder: Folder) -> None:
        reason = ""
        if not folder.options.get(ROLE_OPTION):
            reason = f"its storage connection has no {ROLE_OPTION}"
        elif _WILDCARDS & set(folder.bucket + folder.prefix):
            reason = "its path holds what policies take for a wildcard"
        if reason:
            raise VendingUnsupportedError(location=folder.location, reason=reason)
        self._folder = folder
        self.location = folder.location

    def vend(self, *, lifetime_s: int, now: datetime) -> FolderCredentials:
        """Return the keys of a session; see `FolderVendor`."""
        del now
        folder, options = self._folder, self._folder.options
        client = new_sts_client(
            options,
            endpoint_url=options.get(STS_OPTION),
            region=find_endpoint(self.location, folder.bucket, options).region,
            credentials=find_credentials(self.location, options),
        )
        try:
            answer = client.assume_role(
                RoleArn=options[ROLE_OPTION],
                RoleSessionName=SESSION_NAME,
                Policy=json.dumps(folder_policy(folder.bucket, folder.prefix)),
                DurationSeconds=min(
                    max(lifetime_s, self.min_lifetime_s), MAX_LIFETIME_S
                ),
            )
            found = answer["Credentials"]
            return FolderCredentials(
                location=self.location,
                secret=S3Credentials(
                    access_key=found["AccessKeyId"],
                    secret_key=found["SecretAccessKey"],
                    token=found["SessionToken"],
                ),
                expires_at=found["Expiration"],
            )
        except Exception as error:  # noqa: BLE001 (botocore's errors have no common base)
            response: Any = getattr(error, "response", None) or {}
            code = response.get("Error", {}).get("Code") or type(error).__name__
            raise VendingRefusedError(
                location=self.location, answer=str(code), wanted=WANTED
            ) from None
        finally:
            client.close()


def folder_policy(bucket: str, prefix: str) -> dict[str, Any]:
    """Return the policy that reads below a folder: not beside it, and no other bucket.

    Args:
        prefix: The key of the folder, without slashes around it.
    """
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Action": ["s3:GetObject"],
                "Resource": [f"arn:aws:s3:::{bucket}/{prefix}/*"],
            },
            {
                "Effect": "Allow",
                "Action": ["s3:ListBucket"],
                "Resource": [f"arn:aws:s3:::{bucket}"],
                "Condition": {"StringLike": {"s3:prefix": [f"{prefix}/*"]}},
            },
        ],
    }
