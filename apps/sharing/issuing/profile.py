"""The profile file: what a recipient's client needs to come in.

Source: Delta Sharing PROTOCOL.md, "Profile File Format"; version 2 as the Python client
1.4 reads it.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Final, Protocol

from django.conf import settings

from apps.sharing.models import RecipientToken
from deltaweb.sharing.oauth.public_key import parse_public_key

_BEARER_VERSION: Final = 1  # clients refuse bearer tokens in version 2
_OAUTH_VERSION: Final = 2
_NOT_IN_A_FILE_NAME: Final = re.compile(r"[^\w.-]+")
PRIVATE_KEY_FILE: Final = "private_key.pem"  # beside the profile, until it is moved
OWN_VALUE: Final = "<your own>"  # what a recipient alone knows

Kind = RecipientToken.Kind


class ProfileFile(Protocol):
    """A file that a client reads."""

    @property
    def file_name(self) -> str:
        """What it is called when it is downloaded."""

    def to_json(self) -> str:
        """Write the file's text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileDocument:
    """What a profile file holds, by the names of the protocol.

    Attributes:
        shareCredentialsVersion: The version of the file format.
        endpoint: The URL of the sharing protocol.
        icebergEndpoint: The URL for Iceberg clients, which read the same tables.
        bearerToken: The token. It is shown only once.
        expirationTime: The time when the token expires.
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
        return ProfileDocument(
            shareCredentialsVersion=_BEARER_VERSION,
            endpoint=self.endpoint,
            icebergEndpoint=self.iceberg_endpoint,
            bearerToken=self.bearer_token,
            expirationTime=_iso(self.expiration_time),
        )

    def to_json(self) -> str:
        """Write the file's text."""
        return _text(asdict(self.document))


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthProfile:
    """A profile of an OAuth client; what it holds is left out where it is logged."""

    file_name: str
    document: Mapping[str, object] = field(repr=False)

    def to_json(self) -> str:
        """Write the file's text."""
        return _text(self.document)


def new_profile(*, recipient_name: str, secret: str, ends_at: datetime) -> Profile:
    """Return the profile of a bearer token."""
    return Profile(
        file_name=profile_file_name(recipient_name),
        endpoint=endpoint(),
        iceberg_endpoint=iceberg_endpoint(),
        bearer_token=secret,
        expiration_time=ends_at,
    )


def profile_of(token: RecipientToken, *, secret: str = "") -> ProfileFile:
    """Return the profile that opens this server.

    Args:
        secret: Its secret, where it has one: known when it is made, and never again.
    """
    match token.kind:
        case Kind.CLIENT_SECRET:
            return _of_secret(token, token_endpoint(), token.prefix, secret)
        case Kind.PRIVATE_KEY:
            key = parse_public_key(token.public_key)
            auth = {
                "tokenEndpoint": token_endpoint(),
                "issuer": endpoint(),
                "audience": endpoint(),
                "clientId": token.prefix,
                "privateKey": {
                    "privateKeyFile": PRIVATE_KEY_FILE,  # it stays with the recipient
                    "keyId": key.key_id,
                    "algorithm": key.algorithms[0],
                },
            }
            return _oauth(token, "oauth_jwt_bearer_private_key_jwt", auth=auth)
        case Kind.FEDERATED:  # the recipient fills in what it has of its issuer
            return _of_secret(token, OWN_VALUE, OWN_VALUE, OWN_VALUE)
    return new_profile(
        recipient_name=token.recipient.name, secret=secret, ends_at=token.ends_at
    )


def _of_secret(
    token: RecipientToken, token_url: str, client_id: str, secret: str
) -> ProfileFile:
    return _oauth(
        token,
        "oauth_client_credentials",
        tokenEndpoint=token_url,
        clientId=client_id,
        clientSecret=secret,
    )


def _oauth(token: RecipientToken, kind: str, **proof: object) -> ProfileFile:
    document = {
        "shareCredentialsVersion": _OAUTH_VERSION,
        "type": kind,
        "endpoint": endpoint(),
        "icebergEndpoint": iceberg_endpoint(),
        **proof,
    }
    name = profile_file_name(token.recipient.name)
    return OAuthProfile(file_name=name, document=document)


def endpoint() -> str:
    """Return the address of the protocol, which is the issuer of access tokens, too."""
    return f"{settings.PUBLIC_URL}/delta-sharing/"


def iceberg_endpoint() -> str:
    """Return the address of the Iceberg catalogue."""
    return f"{settings.PUBLIC_URL}/iceberg"


def token_endpoint() -> str:
    """Return the address at which OAuth clients get their access tokens."""
    return f"{endpoint()}oauth/token"


def profile_file_name(recipient_name: str) -> str:
    """Return `<recipient>.share`, of characters that every system takes."""
    bare = _NOT_IN_A_FILE_NAME.sub("_", recipient_name).strip("._")
    return f"{bare[:100] or 'profile'}.share"


def _text(document: Mapping[str, object]) -> str:
    return json.dumps(document, indent=2) + "\n"


def _iso(moment: datetime) -> str:
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
