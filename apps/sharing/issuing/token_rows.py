"""Tokens as the pages show them: their state, their open link, the lamp."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.pages.page_json import shaped
from apps.sharing.issuing.rotation import Verdict, judge
from apps.sharing.models import ActivationLink, RecipientToken

State = RecipientToken.State


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenResource:
    """A token by what may be shown of it, as every machine form names it.

    Attributes:
        prefix: The beginning of the token, which is not secret; the `client_id` of an
            OAuth client.
        kind: `bearer`, `client_secret`, `private_key` or `federated`.
        state: `waiting`, `active`, `retiring`, `expired` or `revoked`.
        issuer: The OIDC issuer of a federated client; `audience` and `subject` or
            `group` must match its tokens.
        expires_at: The time when the token expires; `ends_at` is earlier if it is
            replaced.
        link_open_until: The time when its activation link expires; null without one.
        safe_to_revoke: Whether it can be revoked without harm; `cause` is the reason.
    """

    id: UUID
    prefix: str
    kind: str
    issuer: str | None
    audience: str | None
    subject: str | None
    group: str | None
    state: str
    created_at: datetime
    created_by: str | None
    activated_at: datetime | None
    activated_from: str | None
    expires_at: datetime
    retires_at: datetime | None
    ends_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None
    last_used_from: str | None
    last_used_agent: str | None
    link_open_until: datetime | None
    safe_to_revoke: bool
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRow:
    """One token of the list.

    Attributes:
        verdict: Whether it may be revoked without harm.
        link_open_until: When its open activation link ends; None without one.
    """

    token: RecipientToken
    state: RecipientToken.State
    verdict: Verdict
    link_open_until: datetime | None

    @property
    def is_bearer(self) -> bool:
        """Whether it is a token, and no OAuth client."""
        return self.token.kind == RecipientToken.Kind.BEARER

    @property
    def has_open_profile(self) -> bool:
        """Whether its profile holds no secret, and may be shown at any time."""
        return self.token.kind in RecipientToken.OPEN_KINDS

    @property
    def is_live(self) -> bool:
        """Whether it opens the door, or still may."""
        return self.state in {State.WAITING, State.ACTIVE, State.RETIRING}

    def describe(self) -> TokenResource:
        """Return the token as machine forms name it."""
        return shaped(
            TokenResource,
            self.token,
            kind=self.token.kind.lower(),
            state=self.state.value.lower(),
            created_by=self.token.created_by_name or None,
            link_open_until=self.link_open_until,
            safe_to_revoke=self.verdict.is_safe,
            cause=self.verdict.cause,
        )


def token_row(token: RecipientToken, *, now: datetime) -> TokenRow:
    """Return one token with the verdict over it."""
    others = list(token.recipient.tokens.all())
    links = _open_links([token.id], now)
    return _row(token, others, links, now)


def token_rows(
    tokens: Sequence[RecipientToken], *, num_shown: int | None = None, now: datetime
) -> list[TokenRow]:
    """Return the first of a recipient's tokens, each with the verdict over it."""
    shown = tokens[:num_shown]
    links = _open_links([token.id for token in shown], now)
    return [_row(token, tokens, links, now) for token in shown]


def _row(
    token: RecipientToken,
    others: Sequence[RecipientToken],
    links: Mapping[UUID, datetime],
    now: datetime,
) -> TokenRow:
    return TokenRow(
        token=token,
        state=token.state(now),
        verdict=judge(token, others=others, now=now),
        link_open_until=links.get(token.id),
    )


def _open_links(ids: Iterable[UUID], now: datetime) -> dict[UUID, datetime]:
    links = ActivationLink.objects.filter(
        token__in=list(ids),
        used_at__isnull=True,
        withdrawn_at__isnull=True,
        expires_at__gt=now,
    )
    return dict(links.values_list("token_id", "expires_at"))
