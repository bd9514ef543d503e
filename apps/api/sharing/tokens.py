"""Tokens of recipients: issued, rotated, ended; and activation links.

A profile and a link are answered once. They are kept nowhere: a call that is repeated
with its idempotency key is told which token it made.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from http import HTTPStatus
from typing import cast
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import Scope
from apps.api.calls import Answer
from apps.api.endpoint import RestView, Role, endpoint
from apps.pages.actions import stamp_of
from apps.sharing.errors import TokenNotFoundError
from apps.sharing.issuing import credentials, tokens
from apps.sharing.issuing.lifetimes import parse_span, read_lifetime
from apps.sharing.issuing.profile import Profile, ProfileDocument, ProfileFile
from apps.sharing.issuing.token_rows import TokenResource, token_row, token_rows
from apps.sharing.issuing.tokens import Credentials
from apps.sharing.models import RecipientToken
from apps.sharing.names import find_recipient


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token that is to be made.

    Attributes:
        expires: How long it lives: `90d`, `24h`, or the last day.
    """

    expires: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRotation:
    """A token that is to take the place of the others.

    Attributes:
        expires: How long it lives: `90d`, `24h`, or the last day.
        keep_old: How long the others stay good; `0` ends them at once.
    """

    expires: str = ""
    keep_old: str = "24h"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRetirement:
    """When a token is to end.

    Attributes:
        ends: In how long, `7d` or `24h`, or the last day.
    """

    ends: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedTokens:
    """How many tokens were revoked that had not ended."""

    num_revoked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLink:
    """A link by which a recipient fetches its profile file.

    Attributes:
        token: The token, which waits for its activation.
        activation_url: Opens the profile once; it is shown now and never again.
        activation_expires_at: When the link closes.
    """

    token: TokenResource
    activation_url: str
    activation_expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensOfRecipient:
    """The tokens of a recipient."""

    tokens: list[TokenResource]


class TokenList(RestView):
    """The tokens of a recipient."""

    @endpoint(Role.ADMIN, answers=TokensOfRecipient)
    def get(self, name: str) -> object:
        """List the tokens of a recipient, the newest first, by what may be shown."""
        found = find_recipient(name).tokens.select_related("recipient")
        rows = token_rows(list(found.order_by("-created_at")), now=timezone.now())
        return TokensOfRecipient(tokens=[row.describe() for row in rows])

    @endpoint(
        Role.ADMIN, body=NewToken, answers={201: ProfileDocument}, scope=Scope.SHARE
    )
    def post(self, request: HttpRequest, name: str, body: NewToken) -> Answer:
        """Make a token beside the others and answer its profile file, once.

        `Location` is the address of the token.
        """
        return _profile_answer(request, name, body.expires, credentials.issue)

    @endpoint(Role.ADMIN, answers=EndedTokens, scope=Scope.SHARE)
    def delete(self, request: HttpRequest, name: str) -> object:
        """Revoke every token of a recipient, from its next request on."""
        recipient, stamp = find_recipient(name), stamp_of(request)
        number = tokens.revoke_all(recipient, stamp=stamp)
        return EndedTokens(num_revoked=number)


class Rotation(RestView):
    """A token that takes the place of the others."""

    @endpoint(
        Role.ADMIN,
        body=TokenRotation,
        answers={201: ProfileDocument},
        scope=Scope.SHARE,
    )
    def post(self, request: HttpRequest, name: str, body: TokenRotation) -> Answer:
        """Make a token that replaces the others and answer its profile file, once.

        `Location` is the address of the token.
        """
        keep_old = parse_span(body.keep_old, now=timezone.now())
        rotate = partial(credentials.rotate, keep_old=keep_old)
        return _profile_answer(request, name, body.expires, rotate)


class Token(RestView):
    """One token of a recipient."""

    @endpoint(Role.ADMIN, answers=TokenResource)
    def get(self, name: str, token_id: UUID) -> object:
        """Tell how a token stands, by what may be shown of it."""
        return token_row(find_token(name, token_id), now=timezone.now()).describe()

    @endpoint(
        Role.ADMIN, body=TokenRetirement, answers=TokenResource, scope=Scope.SHARE
    )
    def patch(
        self, request: HttpRequest, name: str, token_id: UUID, body: TokenRetirement
    ) -> object:
        """Move the end of a token in use: sooner or later, never past its expiry."""
        stamp = stamp_of(request)
        retired = tokens.set_retirement(
            find_token(name, token_id),
            retires_at=stamp.at + parse_span(body.ends, now=stamp.at),
            stamp=stamp,
        )
        return token_row(retired, now=stamp.at).describe()

    @endpoint(Role.ADMIN, answers={204: None}, scope=Scope.SHARE)
    def delete(self, request: HttpRequest, name: str, token_id: UUID) -> None:
        """Revoke a token, from its next request on."""
        token, stamp = find_token(name, token_id), stamp_of(request)
        tokens.revoke(token, stamp=stamp)


class ActivationLinks(RestView):
    """The links of the token that waits for its activation."""

    @endpoint(Role.ADMIN, answers={201: TokenLink}, scope=Scope.SHARE)
    def post(self, request: HttpRequest, name: str) -> Answer:
        """Make a new link for the token that waits; older ones are withdrawn."""
        stamp = stamp_of(request)
        token = tokens.waiting_token(find_recipient(name), now=stamp.at)
        made = tokens.issue_link(token, stamp=stamp)
        return link_answer(
            made,
            lambda url, expires_at: TokenLink(
                token=token_row(token, now=stamp.at).describe(),
                activation_url=url,
                activation_expires_at=expires_at,
            ),
        )


def link_answer(made: Credentials, shown: Callable[[str, datetime], object]) -> Answer:
    """Answer with a new activation link, which is given once."""
    expires_at = made.link_expires_at or made.token.ends_at
    return Answer(
        shown(made.link, expires_at),
        HTTPStatus.CREATED,
        headers={"Location": address_of(made.token)},
        about=facts_of(made.token),
    )


def _profile_answer(
    request: HttpRequest, name: str, expires: str, issue: Callable[..., Credentials]
) -> Answer:
    """Make a token and answer its profile file, which is given once."""
    recipient, stamp = find_recipient(name), stamp_of(request)
    profiles: list[ProfileFile] = []
    token = issue(
        recipient,
        lifetime=read_lifetime(expires, now=stamp.at),
        deliver=profiles.append,
        stamp=stamp,
    ).token
    return Answer(
        cast("Profile", profiles[0]).document,  # of a bearer token
        HTTPStatus.CREATED,
        headers={"Location": address_of(token)},
        about=facts_of(token),
    )


def facts_of(token: RecipientToken) -> dict[str, str]:
    """Return what a repeated call is told of a token whose secret was given."""
    return {"recipient": token.recipient.name, "token_id": str(token.id)}


def address_of(token: RecipientToken) -> str:
    """Return where a token is told of."""
    return reverse("api:token", args=[token.recipient.name, token.id])


def find_token(name: str, token_id: UUID) -> RecipientToken:
    """Return a token of a recipient."""
    recipient = find_recipient(name)
    found = recipient.tokens.select_related("recipient").filter(id=token_id).first()
    if found is None:
        raise TokenNotFoundError(recipient=recipient.name)
    return found
