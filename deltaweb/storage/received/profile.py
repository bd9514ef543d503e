"""Profiles of Delta Sharing: where a provider's server is, and the token for it.

Source: delta_sharing_protocol_2026.md, "Profile File Format".
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote, unquote, urlsplit

from deltaweb.delta.errors import LocationInvalidError
from deltaweb.environment.bounded_json import parse_json
from deltaweb.storage.received.errors import ProfileInvalidError
from deltaweb.storage.received.numbers import whole

MAX_PROFILE_BYTES: Final = 64 << 10
MAX_TEXT_LENGTH: Final = 2_000
# RFC 6750, 2.1; nothing else may stand in a header, or mean something to us.
TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]{1,16384}=*", re.ASCII)
PREFIX: Final = "received://"
SHOWN_OF_TOKEN: Final = 4  # characters of its end


BEARER: Final = "bearer_token"
CLIENT_CREDENTIALS: Final = "oauth_client_credentials"


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """What access tokens are requested with, by OAuth client credentials.

    Attributes:
        token_endpoint: The URL that gives them out.
        scope: "" where the profile has none.
    """

    token_endpoint: str
    client_id: str
    client_secret: str = field(repr=False)
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """How one provider is asked.

    Attributes:
        endpoint: The URL of the protocol's root, without a trailing slash.
        bearer_token: "" where an OAuth client gets tokens.
        expires_at: When the provider ends the token, as the profile says; None where it
            does not say.
        client: None where the profile has a token.
    """

    endpoint: str
    bearer_token: str = field(default="", repr=False)
    expires_at: datetime | None = None
    client: OAuthClient | None = None

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self:
        """Return the profile of a profile file's fields, of version 1 or 2.

        Raises:
            ProfileInvalidError: If a field is missing, or its type is not supported.
        """
        version = whole(fields.get("shareCredentialsVersion"))
        kind = BEARER if version == 1 else fields.get("type")
        if version not in {1, 2}:
            reason = "its shareCredentialsVersion is not 1 or 2"
            raise ProfileInvalidError(reason=reason)
        if kind == CLIENT_CREDENTIALS:
            client = _client(fields)
            return cls(endpoint=_url(fields, "endpoint").rstrip("/"), client=client)
        if kind != BEARER:
            said = f"type {kind[:40]!r}" if isinstance(kind, str) else "missing type"
            reason = f"its {said} is not one of {BEARER} and {CLIENT_CREDENTIALS}"
            raise ProfileInvalidError(reason=reason)
        token = fields.get("bearerToken")
        if not isinstance(token, str) or TOKEN.fullmatch(token) is None:
            raise ProfileInvalidError(reason="its bearerToken is missing or malformed")
        return cls(
            endpoint=_url(fields, "endpoint").rstrip("/"),
            bearer_token=token,
            expires_at=_moment(fields.get("expirationTime")),
        )

    @property
    def host(self) -> str:
        return urlsplit(self.endpoint).hostname or ""

    @property
    def token_end(self) -> str:
        """The last characters of the token, by which people tell it from others.

        "" for an OAuth client, which is known by its id.
        """
        return self.bearer_token[-SHOWN_OF_TOKEN:]

    def fields(self) -> dict[str, str]:
        """Return the profile as texts, to be sealed."""
        said = {"endpoint": self.endpoint}
        if self.client is not None:
            return said | asdict(self.client)
        said["bearer_token"] = self.bearer_token
        if self.expires_at is not None:
            said["expires_at"] = self.expires_at.isoformat()
        return said

    @classmethod
    def of_texts(cls, fields: Mapping[str, Any]) -> Self:
        """Return the profile of `fields`."""
        if "client_id" in fields:
            names = ("token_endpoint", "client_id", "client_secret", "scope")
            client = OAuthClient(*(fields[name] for name in names))
            return cls(fields["endpoint"], client=client)
        moment = fields.get("expires_at")
        return cls(
            fields["endpoint"],
            fields["bearer_token"],
            datetime.fromisoformat(moment) if moment else None,
        )


def parse_profile(text: str | bytes) -> Profile:
    if len(text) > MAX_PROFILE_BYTES:
        raise ProfileInvalidError(reason="it is too long")
    try:
        fields = parse_json(text)
    except (ValueError, RecursionError):
        raise ProfileInvalidError(reason="it is not JSON") from None
    if not isinstance(fields, dict):
        raise ProfileInvalidError(reason="it is not a JSON object")
    return Profile.of(fields)


def read_profile(path: Path) -> Profile:
    try:
        with path.open("rb") as file:
            return parse_profile(file.read(MAX_PROFILE_BYTES + 1))
    except OSError as error:
        reason = f"{path} cannot be read ({error.strerror})"
        raise ProfileInvalidError(reason=reason) from None


@dataclass(frozen=True, slots=True)
class SharedName:
    """A table as a provider names it."""

    share: str
    schema: str
    table: str

    def __str__(self) -> str:
        return f"{self.share}.{self.schema}.{self.table}"

    @property
    def path(self) -> str:
        """The path of its endpoints, each part quoted."""
        share, schema, table = (quote(one, safe="") for one in self.parts)
        return f"/shares/{share}/schemas/{schema}/tables/{table}"

    @property
    def parts(self) -> tuple[str, str, str]:
        return self.share, self.schema, self.table


def split_table_url(url: str) -> tuple[Path, SharedName] | None:
    """Split `profile.share#share.schema.table`; None of a text of another form.

    The profile has to be a file, so that folders with a `#` stay what they are.
    """
    path, separator, name = url.rpartition("#")
    parts = name.split(".")
    is_named = bool(separator) and len(parts) == 3 and all(parts)  # noqa: PLR2004
    if not is_named or not Path(path).expanduser().is_file():
        return None
    return Path(path).expanduser(), SharedName(*parts)


def location_of(provider: str, table: SharedName) -> str:
    """Return the location of a table: the provider as we call it, and its names."""
    return f"{PREFIX}{provider}/{'/'.join(quote(one, safe='') for one in table.parts)}"


def split_location(location: str) -> tuple[str, SharedName]:
    """Return provider and table of `location_of`."""
    parts = location.removeprefix(PREFIX).split("/")
    if not location.startswith(PREFIX) or len(parts) != 4 or not all(parts):  # noqa: PLR2004
        reason = "it is not received://provider/share/schema/table"
        raise LocationInvalidError(location=location, reason=reason)
    names = [unquote(part) for part in parts[1:]]
    # A log is kept in a folder that is called by them.
    if {".", ".."} & {parts[0], *names}:
        reason = "a name in it leads to another folder"
        raise LocationInvalidError(location=location, reason=reason)
    return parts[0], SharedName(*names)


def _client(fields: Mapping[str, Any]) -> OAuthClient:
    texts = {}
    for name in ("clientId", "clientSecret", "scope"):
        text = fields.get(name) or ""
        is_needed = name != "scope"
        if (
            not isinstance(text, str)
            or len(text) > MAX_TEXT_LENGTH
            or not text.isprintable()
            or (is_needed and not text)
        ):
            raise ProfileInvalidError(reason=f"its {name} is missing or malformed")
        texts[name] = text
    return OAuthClient(_url(fields, "tokenEndpoint"), *texts.values())


def _url(fields: Mapping[str, Any], name: str) -> str:
    """Return a URL of a profile: plain, though one of tokens may have a query."""
    value = fields.get(name)
    if not isinstance(value, str) or len(value) > MAX_TEXT_LENGTH:
        raise ProfileInvalidError(reason=f"it has no {name}")
    url = value.strip()
    try:
        parts = urlsplit(url)
        is_plain = parts.port is None or parts.port > 0
    except ValueError:
        raise ProfileInvalidError(reason=f"its {name} is not a URL") from None
    if (
        not is_plain
        or parts.scheme not in {"http", "https"}
        or not parts.hostname
        or "@" in parts.netloc
        or (parts.query and name == "endpoint")
        or parts.fragment
        or not (url.isascii() and url.isprintable())
        or " " in url
    ):
        reason = f"its {name} is not a plain URL of a server"
        raise ProfileInvalidError(reason=reason)
    return url


def _moment(value: object) -> datetime | None:
    if not isinstance(value, str) or not value:
        return None
    try:
        moment = datetime.fromisoformat(value[:MAX_TEXT_LENGTH])
    except ValueError:
        return None  # a hint for people; the server has the last word
    return moment if moment.tzinfo is not None else None
