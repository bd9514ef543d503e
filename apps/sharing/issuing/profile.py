"""The profile file: what a recipient's client needs to come in.

Source: Delta Sharing PROTOCOL.md, "Profile File Format".
"""

import json
import re
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Final

from django.conf import settings

_CREDENTIALS_VERSION: Final = 1  # clients refuse bearer tokens in version 2
_NOT_IN_A_FILE_NAME: Final = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileDocument:
    """What a profile file holds, by the names of the protocol.

    Attributes:
        shareCredentialsVersion: Of the form of the file.
        endpoint: Where the protocol is answered.
        icebergEndpoint: Where Iceberg clients read the same tables.
        bearerToken: The token, which is shown now and never again.
        expirationTime: When it ends.
    """

    shareCredentialsVersion: int  # noqa: N815 (as all of these: the protocol's name)
    endpoint: str
    icebergEndpoint: str  # noqa: N815
    bearerToken: str = field(repr=False)  # noqa: N815
    expirationTime: str  # noqa: N815


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A profile file; its token is left out where the value is written to a log."""

    file_name: str
    endpoint: str
    iceberg_endpoint: str
    bearer_token: str = field(repr=False)
    expiration_time: datetime

    @property
    def document(self) -> ProfileDocument:
        """What the file holds."""
        return ProfileDocument(
            shareCredentialsVersion=_CREDENTIALS_VERSION,
            endpoint=self.endpoint,
            icebergEndpoint=self.iceberg_endpoint,
            bearerToken=self.bearer_token,
            expirationTime=_iso(self.expiration_time),
        )

    def to_json(self) -> str:
        """Write the file's text."""
        return json.dumps(asdict(self.document), indent=2) + "\n"


def new_profile(*, recipient_name: str, secret: str, expires_at: datetime) -> Profile:
    """Return the profile that opens this server with `secret`."""
    return Profile(
        file_name=profile_file_name(recipient_name),
        endpoint=f"{settings.PUBLIC_URL}/delta-sharing/",
        iceberg_endpoint=f"{settings.PUBLIC_URL}/iceberg",
        bearer_token=secret,
        expiration_time=expires_at,
    )


def profile_file_name(recipient_name: str) -> str:
    """Return `<recipient>.share`, of characters that every system takes."""
    bare = _NOT_IN_A_FILE_NAME.sub("_", recipient_name).strip("._")
    return f"{bare[:100] or 'profile'}.share"


def _iso(moment: datetime) -> str:
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
