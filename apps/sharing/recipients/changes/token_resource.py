"""The parameters and the answers of changes of tokens."""

from dataclasses import MISSING, dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from apps.pages.actions import Stamp
from apps.pages.changes.parameters import parameter
from apps.pages.page_json import OnPage, Spread
from apps.sharing.errors import TokenNotFoundError
from apps.sharing.issuing.profile import ProfileFile
from apps.sharing.issuing.token_rows import TokenResource, token_row, token_rows
from apps.sharing.issuing.tokens import Credentials
from apps.sharing.models import Recipient, RecipientToken
from apps.sharing.names import find_recipient
from apps.sharing.recipients.settings import RecipientResource


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token that is to be made.

    Attributes:
        expires: How long the token is valid: `90d`, `24h`, or its last day.
    """

    expires: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRotation:
    """A token that is to take the place of the others.

    Attributes:
        expires: How long the new token is valid: `90d`, `24h`, or its last day.
        keep_old: How long the old tokens stay valid; `0` ends them at once.
    """

    expires: str = ""
    keep_old: str = "24h"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewClient:
    """An OAuth client that is to be made.

    Attributes:
        kind: How the client proves its identity.
        public_key: The public key (PEM) of a `private_key` client, which signs with its
            private key.
        issuer: The OIDC issuer of the tokens of a `federated` client.
        audience: The audience of these tokens.
        subject: The subject of these tokens; or give `group`.
        group: A group that these tokens must have, instead of a subject.
        expires: How long the client is valid: `90d`, `24h`, or its last day.
        keep_old: How long other clients of this kind stay valid: `24h`, or `0` to end
            them at once; null keeps them.
    """

    kind: Literal["client_secret", "private_key", "federated"] = parameter(MISSING)
    public_key: str = ""
    issuer: str = ""
    audience: str = ""
    subject: str = ""
    group: str = ""
    expires: str = ""
    keep_old: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRetirement:
    """When a token is to end.

    Attributes:
        ends: When the token ends: `7d`, `24h`, or its last day.
    """

    ends: str = parameter(MISSING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Revocation:
    """The tokens that are to be revoked: all without `token`."""

    token: str | None = parameter(
        None,
        "--token",
        metavar="PREFIX",
        help=("only this token, by its prefix in `show`"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitedRecipient:
    """A new recipient, and the link by which it fetches its profile file.

    Attributes:
        token: The token, which waits for its activation.
        activation_url: The link to download the profile once. It is shown only once.
        activation_expires_at: The time when the link expires.
    """

    resource: Spread[RecipientResource]
    token: TokenResource
    activation_url: str
    activation_expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLink:
    """A link by which a recipient fetches its profile file.

    Attributes:
        token: The token, which waits for its activation.
        activation_url: The link to download the profile once. It is shown only once.
        activation_expires_at: The time when the link expires.
    """

    token: TokenResource
    activation_url: str
    activation_expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLink:
    """A new link, and the recipient with its tokens.

    Attributes:
        profile: The file of the profile; always null beside a link.
        made: The token and the link.
    """

    resource: Spread[RecipientResource]
    tokens: list[TokenResource]
    link: Spread[TokenLink]
    profile: str | None = None
    made: OnPage[Credentials]


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeClient:
    """A new OAuth client.

    Attributes:
        activation_url: The link to download the profile once. It is shown only once.
            Null if the profile has no secret; GET `profile` of the token returns it
            then.
        activation_expires_at: The time when the link expires.
    """

    resource: Spread[TokenResource]
    activation_url: str | None
    activation_expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownClient:
    """A token or an OAuth client, and what it comes in by.

    Attributes:
        profile: The content of the profile file.
    """

    client: TokenResource
    profile: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeToken:
    """A token that was made or activated by a call.

    Attributes:
        token: The token.
        answer: The answer, which may hold a secret.
        file: Its profile, if it was handed out.
    """

    token: OnPage[RecipientToken]
    resource: Spread[TokenResource]
    answer: OnPage[Any]
    file: OnPage[ProfileFile | None] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedTokens:
    """How many tokens were revoked that had not ended."""

    num_revoked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokedTokens:
    """A recipient with its tokens, some of which were just revoked."""

    resource: Spread[RecipientResource]
    tokens: list[TokenResource]
    num_revoked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensOfRecipient:
    """The tokens of a recipient."""

    tokens: list[TokenResource]


def find_token(name: str, token_id: UUID) -> RecipientToken:
    """Return a token of a recipient."""
    recipient = find_recipient(name)
    found = recipient.tokens.select_related("recipient").filter(id=token_id).first()
    if found is None:
        raise TokenNotFoundError(recipient=recipient.name)
    return found


def tokens_of(recipient: Recipient, now: datetime) -> list[TokenResource]:
    """Return the tokens of a recipient, the newest first."""
    found = recipient.tokens.select_related("recipient").order_by("-created_at")
    return [row.describe() for row in token_rows(list(found), now=now)]


def shown_token(token: RecipientToken, stamp: Stamp) -> TokenResource:
    """Return a token by what may be shown of it."""
    return token_row(token, now=stamp.at).describe()
