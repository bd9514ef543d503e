"""Temporary credentials of a shared table's folder.

Source: delta_sharing_protocol_2026.md, "Generate Temporary Table Credential".
"""

from datetime import datetime

from deltaweb.delta.log.commits.times import to_ms
from deltaweb.sharing.errors import DirectoryNotOfferedError, ParameterInvalidError
from deltaweb.storage.objects.vending.s3 import MIN_LIFETIME_S, FolderCredentials, vend
from deltaweb.web.sharing.access.directories import directory_of, obstacle
from deltaweb.web.sharing.models import RecipientToken, SharedTable
from deltaweb.web.tables.storage.connections import options_for
from deltaweb.web.tables.storage.locations import check_allowed
from deltaweb.web.tables.storage.opening import roots_of_server


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
        shared: The table.
        location: Which of its locations is asked for; None for the root, the only one.
        token: The caller's.
        lifetime_s: How long they are good at most.
        now: The current time.
    """
    offered = directory_of(shared)
    if offered is None:
        raise DirectoryNotOfferedError(table=shared.full_name, reason=obstacle(shared))
    if location is not None and location.rstrip("/") != offered:
        raise ParameterInvalidError(
            name="location",
            reason="it is not a location of the table",
            hint="Leave it out, or send the one that the table's metadata has.",
        )
    left_s = int((token.ends_at - now).total_seconds())
    if left_s < MIN_LIFETIME_S:
        reason = "the token ends before such credentials would"
        raise DirectoryNotOfferedError(table=shared.full_name, reason=reason)
    root = shared.table.location
    check_allowed(root, roots=roots_of_server())
    return vend(root, options_for(root), lifetime_s=min(lifetime_s, left_s))


def credentials_body(found: FolderCredentials) -> dict[str, object]:
    """Return the body of the answer."""
    return {
        "credentials": {
            "location": found.location,
            "awsTempCredentials": {
                "accessKeyId": found.access_key,
                "secretAccessKey": found.secret_key,
                "sessionToken": found.session_token,
            },
            "expirationTime": to_ms(found.expires_at),
        }
    }
