"""Temporary credentials of a shared table's folder.

Source: delta_sharing_protocol_2026.md, "Generate Temporary Table Credential".
"""

from datetime import datetime

from django.conf import settings

from apps.sharing.access.directories import directory_of, obstacle
from apps.sharing.models import RecipientToken, SharedTable
from apps.tables.storage.connections import options_for
from apps.tables.storage.endpoints import check_endpoints
from apps.tables.storage.locations import check_allowed
from apps.tables.storage.opening import roots_of_server
from deltaweb.delta.log.commits.times import to_ms
from deltaweb.sharing.errors import DirectoryNotOfferedError, ParameterInvalidError
from deltaweb.storage.objects.vending.credentials import (
    FolderCredentials,
    OAuthToken,
    SASToken,
)
from deltaweb.storage.objects.vending.vendors import open_vendor


def table_credentials(
    shared: SharedTable,
    *,
    location: str | None,
    token: RecipientToken,
    lifetime_s: int,
    now: datetime,
) -> FolderCredentials:
    """Return credentials that read the table's folder; none outlive the token.

    Args:
        location: Which of its locations is asked for; None for the root, the only one.
        lifetime_s: How long they are good at most.
    """
    offered = directory_of(shared, token.recipient)
    if offered is None:
        reason = obstacle(shared, token.recipient)
        raise DirectoryNotOfferedError(table=shared.full_name, reason=reason)
    if location is not None and location.rstrip("/") != offered:
        raise ParameterInvalidError(
            name="location",
            reason="it is not the location of the table",
            hint="Leave it out, or send the location in the table's metadata.",
        )
    root = shared.table.location
    check_allowed(root, roots=roots_of_server())
    options = options_for(root)
    # A host's name may lead elsewhere by now than when an administrator typed it.
    check_endpoints(options, allowed=settings.STORAGE_HOSTS)
    vendor = open_vendor(root, options)
    left_s = int((token.ends_at - now).total_seconds())
    if left_s < vendor.min_lifetime_s:
        reason = "the token ends before such credentials"
        raise DirectoryNotOfferedError(table=shared.full_name, reason=reason)
    return vendor.vend(lifetime_s=min(lifetime_s, left_s), now=now)


def credentials_body(found: FolderCredentials) -> dict[str, object]:
    """Return the body of the answer.

    Keys of R2 are those of S3: the protocol has no name of their own for them.
    """
    secret: dict[str, object]
    match found.secret:
        case SASToken(text):
            secret = {"azureUserDelegationSas": {"sasToken": text}}
        case OAuthToken(text):
            secret = {"gcpOauthToken": {"oauthToken": text}}
        case keys:
            secret = {
                "awsTempCredentials": {
                    "accessKeyId": keys.access_key,
                    "secretAccessKey": keys.secret_key,
                    "sessionToken": keys.token,
                }
            }
    expires_at_ms = to_ms(found.expires_at)
    return {
        "credentials": {
            "location": found.location,
            **secret,
            "expirationTime": expires_at_ms,
        }
    }
