"""Temporary credentials of S3: a role, narrowed to one folder by a session policy.

The role is the option `vend_role_arn` of the storage connection, whose own key may
assume it. What comes out may do what both the role and the policy allow: get what lies
below the folder, and list that.

Source: AWS, "AssumeRole" and "Session policies".
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from deltaweb.storage.location import is_local, normalize_location
from deltaweb.storage.objects.vending.errors import (
    VendingRefusedError,
    VendingUnsupportedError,
)
from deltaweb.storage.objects.vending.options import ROLE_OPTION, STS_OPTION
from deltaweb.storage.signing.s3_session import (
    find_credentials,
    find_endpoint,
    new_sts_client,
)
from deltaweb.storage.signing.signer import S3_SCHEMES

MIN_LIFETIME_S: Final = 900  # AWS gives none that are shorter
MAX_LIFETIME_S: Final = 3600
SESSION_NAME: Final = "deltaweb"
_WILDCARDS: Final = frozenset("*?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderCredentials:
    """What reads one folder for a while.

    Attributes:
        location: The folder.
        expires_at: When it ends.
    """

    location: str
    access_key: str
    secret_key: str = field(repr=False)
    session_token: str = field(repr=False)
    expires_at: datetime


def check_vendable(location: str, options: Mapping[str, Any]) -> str:
    """Return the location of a folder that credentials can be made for; ask nobody."""
    place = normalize_location(location).rstrip("/")
    scheme, _, rest = place.partition("://")
    bucket, _, prefix = rest.partition("/")
    reason = ""
    if is_local(place) or scheme not in S3_SCHEMES:
        reason = "it is not on S3"
    elif not options.get(ROLE_OPTION):
        reason = f"its storage connection has no {ROLE_OPTION}"
    elif not prefix:
        reason = "it is a whole bucket"
    elif _WILDCARDS & set(rest):
        reason = "its path holds what policies take for a wildcard"
    if reason:
        raise VendingUnsupportedError(location=place, reason=reason)
    return f"s3://{bucket}/{prefix}"


def vend(
    location: str, options: Mapping[str, Any], *, lifetime_s: int
) -> FolderCredentials:
    """Return credentials that read a folder.

    Args:
        location: The folder.
        options: Of its storage connection.
        lifetime_s: How long they are good: 900 to 3600.
    """
    place = check_vendable(location, options)
    bucket, _, prefix = place.removeprefix("s3://").partition("/")
    client = new_sts_client(
        options,
        endpoint_url=options.get(STS_OPTION),
        region=find_endpoint(place, bucket, options).region,
        credentials=find_credentials(place, options),
    )
    try:
        answer = client.assume_role(
            RoleArn=options[ROLE_OPTION],
            RoleSessionName=SESSION_NAME,
            Policy=json.dumps(folder_policy(bucket, prefix)),
            DurationSeconds=min(max(lifetime_s, MIN_LIFETIME_S), MAX_LIFETIME_S),
        )
        found = answer["Credentials"]
        return FolderCredentials(
            location=place,
            access_key=found["AccessKeyId"],
            secret_key=found["SecretAccessKey"],
            session_token=found["SessionToken"],
            expires_at=found["Expiration"],
        )
    except Exception as error:  # noqa: BLE001 (botocore's errors have no common base)
        response: Any = getattr(error, "response", None) or {}
        code = response.get("Error", {}).get("Code") or type(error).__name__
        raise VendingRefusedError(location=place, answer=str(code)[:80]) from None
    finally:
        client.close()


def folder_policy(bucket: str, prefix: str) -> dict[str, Any]:
    """Return the policy that reads below a folder: not beside it, and no other bucket.

    Args:
        bucket: Its bucket.
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
