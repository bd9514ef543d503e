"""The parameters and the answers of changes of tokens."""

from dataclasses import MISSING, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal
from uuid import UUID

from django.core.management.base import CommandError
from django.urls import reverse

from apps.pages.actions import Stamp
from apps.pages.changes.parameters import Line, Span, parameter
from apps.pages.page_json import OnPage, Spread
from apps.sharing.errors import TokenNotFoundError
from apps.sharing.issuing.lifetimes import (
    OVERLAPS,
    check_delay,
    check_overlap,
    expires_parameter,
)
from apps.sharing.issuing.profile import ProfileFile
from apps.sharing.issuing.token_rows import TokenResource, token_row, token_rows
from apps.sharing.issuing.tokens import Credentials
from apps.sharing.models import Recipient, RecipientToken
from apps.sharing.names import find_recipient
from apps.sharing.recipients.changes.profile_file import (
    force_parameter,
    profile_parameter,
)
from apps.sharing.recipients.resource import RecipientResource
from apps.sharing.recipients.services import NewRecipient
from deltaweb.environment.command_lines import BAD_USAGE

DELAYS: Final = {"24h": "24 hours from now", "7d": "7 days from now"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token that is to be made.

    Attributes:
        expires: How long the token is valid: `90d`, `24h`, or its last day.
    """

    expires: str = expires_parameter()


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRotation:
    """A token that is to take the place of the others.

    Attributes:
        expires: How long the new token is valid: `90d`, `24h`, or its last day.
        keep_old: How long the old tokens stay valid; `0` ends them at once.
    """

    expires: str = expires_parameter()
    keep_old: str = parameter(
        "24h",
        "--keep-old",
        line=Line(
            label="Keep the old",
            name="keep",
            span=Span(
                own="keep_until",
                presets=lambda: OVERLAPS,
                question="Choose how long the old tokens stay valid.",
                check=check_overlap,
            ),
        ),
        metavar="SPAN",
        help="how long the others stay valid: 24h (the default), 7d, 0",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RotationAtTerminal(TokenRotation):
    """A rotation whose token goes into a profile file."""

    profile: str | None = profile_parameter()
    force: bool = force_parameter()


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

    kind: Literal["client_secret", "private_key", "federated"] = parameter(
        MISSING, line=Line(label="Proves itself by", is_needed=True)
    )
    public_key: str = parameter(
        "",
        None,
        line=Line(label="Public key", most=20_000, codes=("public-key-invalid",)),
    )
    issuer: str = parameter(
        "",
        "--issuer",
        line=Line(label="Issuer", most=500, codes=("issuer-invalid",)),
        metavar="URL",
        help="OIDC issuer whose tokens the client sends",
    )
    audience: str = parameter(
        "",
        "--audience",
        line=Line(label="Audience", most=500, codes=("client-invalid",)),
        help="audience of these tokens",
    )
    subject: str = parameter(
        "",
        "--subject",
        line=Line(label="Subject", most=500, codes=("client-taken",)),
        help="subject of these tokens",
    )
    group: str = parameter(
        "",
        "--group",
        line=Line(label="Group", most=500),
        help="group in these tokens, instead of a subject",
    )
    expires: str = expires_parameter()
    keep_old: str | None = parameter(
        None,
        "--keep-old",
        line=Line(
            label="Others of its kind",
            name="keep",
            span=Span(
                presets=lambda: {"": "keep them"} | OVERLAPS,
                question="Choose how long others of its kind stay valid.",
                check=check_overlap,
            ),
        ),
        metavar="SPAN",
        help="replace other clients of its kind, which stay valid for 24h, 7d or 0",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewClientAtTerminal(NewClient):
    """An OAuth client whose kind follows from the options.

    Attributes:
        kind: What it proves itself by.
        public_key: The path of a PEM.
    """

    kind: Literal["client_secret", "private_key", "federated"] = "client_secret"
    public_key: str = parameter(
        "",
        "--public-key",
        metavar="FILE",
        help="public key (PEM) of a client that signs with its private key",
    )
    profile: str | None = profile_parameter()
    force: bool = force_parameter()

    def __post_init__(self) -> None:
        """Refuse options of two kinds, and set the kind."""
        message = ""
        if not self.issuer and (self.audience or self.subject or self.group):
            message = "--audience, --subject and --group go with --issuer."
        elif self.issuer and self.public_key:
            message = "Give either --public-key or --issuer."
        if message:
            raise CommandError(message, returncode=BAD_USAGE)
        if self.issuer or self.public_key:
            kind = "federated" if self.issuer else "private_key"
            object.__setattr__(self, "kind", kind)

    @property
    def pem(self) -> str:
        """The text of the file of the public key."""
        if not self.public_key:
            return ""
        path = Path(self.public_key).expanduser()
        try:
            return path.read_text(encoding="ascii")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            message = f"{path} cannot be read: {reason}."
            raise CommandError(message) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecipientAtTerminal(NewRecipient):
    """A recipient whose first token goes into a profile file."""

    profile: str | None = profile_parameter()
    force: bool = force_parameter()


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRetirement:
    """When a token is to end.

    Attributes:
        ends: When the token ends: `7d`, `24h`, or its last day.
    """

    ends: str = parameter(
        MISSING,
        line=Line(
            label="It ends",
            name="at",
            is_needed=True,
            span=Span(
                own="at_until",
                presets=lambda: DELAYS,
                question="Choose when the token ends.",
                check=check_delay,
            ),
            codes=("retirement-invalid",),
        ),
    )


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
class Issued:
    """A recipient with a new token or OAuth client, and what hands that out.

    Attributes:
        token: The token.
        activation_url: The link to download the profile once. It is shown only once.
        activation_expires_at: The time when the link expires.
        profile: The file that the profile was written to.
        made: The token and the link.
    """

    resource: Spread[RecipientResource]
    tokens: list[TokenResource]
    token: TokenResource
    activation_url: str | None
    activation_expires_at: datetime | None
    profile: str | None
    made: OnPage[Credentials]


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedOpenly(Issued):
    """An OAuth client that has no secret here.

    Attributes:
        profile_document: Its profile.
    """

    profile_document: dict[str, Any]


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
        file: Its profile.
    """

    token: OnPage[RecipientToken]
    resource: Spread[TokenResource]
    answer: OnPage[Any]
    file: OnPage[ProfileFile]


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


def kept_of(token: RecipientToken) -> dict[str, str]:
    """Return what may be kept of a token whose secret was given."""
    return {"recipient": token.recipient.name, "token_id": str(token.id)}


def address_of(token: RecipientToken) -> str:
    """Return the address of a token in the REST API."""
    return reverse("api:token", args=[token.recipient.name, token.id])
