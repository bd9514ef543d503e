"""The changes of the tokens, links and OAuth clients of a recipient."""

import json
from datetime import UTC
from typing import Final
from uuid import UUID

from django.shortcuts import resolve_url
from django.utils import timezone

from apps.pages.actions import Stamp
from apps.pages.changes.change import (
    ADMIN,
    Call,
    Change,
    Nothing,
    Page,
    Subject,
    Verb,
)
from apps.pages.changes.read import Read, reads
from apps.pages.lists.days import day_text
from apps.sharing.errors import TokenPrefixUnknownError
from apps.sharing.issuing import tokens
from apps.sharing.issuing.lifetimes import parse_delay
from apps.sharing.issuing.token_rows import TokenResource, token_row
from apps.sharing.models import Recipient, RecipientToken
from apps.sharing.names import find_recipient
from apps.sharing.recipients.changes.new_tokens import SHOWN_ONCE, TOKENS
from apps.sharing.recipients.changes.settings import RECIPIENT, ROUTE
from apps.sharing.recipients.changes.token_resource import (
    EndedTokens,
    MadeToken,
    NewLink,
    Revocation,
    RevokedTokens,
    ShownClient,
    TokenLink,
    TokenRetirement,
    TokensOfRecipient,
    address_of,
    find_token,
    kept_of,
    shown_token,
    tokens_of,
)
from apps.sharing.recipients.listing import recipient_resource
from deltaweb.words import counted

TOKEN_ROUTE: Final = f"{TOKENS}/<uuid:token_id>"


def _activate(token: RecipientToken, _: Nothing, stamp: Stamp) -> MadeToken:
    profile = tokens.issue_profile(token, stamp=stamp)
    shown = ShownClient(
        client=shown_token(token, stamp), profile=json.loads(profile.to_json())
    )
    return MadeToken(
        token=token, resource=shown_token(token, stamp), answer=shown, file=profile
    )


def _new_link(recipient: Recipient, none: Nothing, stamp: Stamp) -> NewLink:
    return _link(tokens.waiting_token(recipient, now=stamp.at), none, stamp)


def _link(token: RecipientToken, _: Nothing, stamp: Stamp) -> NewLink:
    made = tokens.issue_link(token, stamp=stamp)
    return NewLink(
        resource=recipient_resource(token.recipient, now=stamp.at),
        tokens=tokens_of(token.recipient, stamp.at),
        link=TokenLink(
            token=shown_token(token, stamp),
            activation_url=made.link,
            activation_expires_at=made.link_expires_at or token.ends_at,
        ),
        made=made,
    )


def _retire(token: RecipientToken, new: TokenRetirement, stamp: Stamp) -> TokenResource:
    retires_at = stamp.at + parse_delay(new.ends, now=stamp.at)
    retired = tokens.set_retirement(token, retires_at=retires_at, stamp=stamp)
    return shown_token(retired, stamp)


def _revoke(recipient: Recipient, new: Revocation, stamp: Stamp) -> RevokedTokens:
    if new.token is None:
        number = tokens.revoke_all(recipient, stamp=stamp)
    else:
        tokens.revoke(_token_of(recipient, new.token), stamp=stamp)
        number = 1
    return RevokedTokens(
        resource=recipient_resource(recipient, now=stamp.at),
        tokens=tokens_of(recipient, stamp.at),
        num_revoked=number,
    )


def _revoke_one(token: RecipientToken, _: Nothing, stamp: Stamp) -> TokenResource:
    return shown_token(tokens.revoke(token, stamp=stamp), stamp)


def _question(recipient: Recipient, new: Revocation) -> str:
    if new.token is None:
        return f"Revoke every token of {recipient.name}?"
    return f"Revoke {_token_of(recipient, new.token)} of {recipient.name}?"


def _token_of(recipient: Recipient, prefix: str) -> RecipientToken:
    """Return the token of a recipient that begins so."""
    found = recipient.tokens.filter(prefix=prefix.strip().rstrip(".…")).first()
    if found is None:
        raise TokenPrefixUnknownError(recipient=recipient.name, prefix=prefix)
    return found


def _said_link(one: NewLink) -> str:
    closes, name = one.link.activation_expires_at, one.resource.name
    ends = one.link.token.ends_at
    return (
        f"{one.link.activation_url}\n\n"
        f"The link works once, until {closes:%Y-%m-%d %H:%M:%S} UTC. "
        f"Send it to {name}; the token ends {ends:%Y-%m-%d %H:%M:%S} UTC."
    )


def _said_revoked(one: RevokedTokens) -> str:
    return f"Revoked {counted(one.num_revoked, 'token')} of {one.resource.name}."


def _said_retired(one: TokenResource) -> str:
    at = one.ends_at.astimezone(UTC)
    return f"{one.prefix}… ends on {day_text(at)} at {at:%H:%M} UTC."


def _must_be_sure(token: RecipientToken) -> str:
    """Return what confirms that a token is revoked which may be in use."""
    row = token_row(token, now=timezone.now())
    return "" if row.verdict.is_safe else "yes"


def _said_token(one: TokenResource) -> str:
    return f"{one.prefix}… is revoked; it stops working with the next request."


# === The changes ===

TOKEN: Final = Subject(noun="recipient", role=ADMIN, scope="share", find=find_token)


PROFILE: Final = Change(
    of=TOKEN,
    name="token-profile",
    help="Activate a waiting token, and return its profile file once.",
    more="Its links stop working: the caller has to send the file.",
    parameters=Nothing,
    do=_activate,
    result=MadeToken,
    says=lambda one: f"{one.token.prefix}… is activated.",
    kept=lambda one: kept_of(one.token),
    record=("token.profile",),
    call=Call(
        "POST",
        f"{TOKEN_ROUTE}/profile",
        view="ClientProfile",
        answers=ShownClient,
        shown=lambda one: one.answer,
    ),
    page=Page(
        f"{TOKEN_ROUTE}/profile",
        back=lambda one: resolve_url(one.recipient),
        name="token-profile",
    ),
)
LINK: Final = Change(
    of=RECIPIENT,
    name="link",
    help="Make a new link for the waiting token; older links stop working.",
    parameters=Nothing,
    do=_new_link,
    result=NewLink,
    says=_said_link,
    kept=lambda one: kept_of(one.made.token),
    record=("link.issue",),
    verb=Verb(),
    call=Call(
        "POST",
        f"{ROUTE}/activation-links",
        view="ActivationLinks",
        location=lambda one: address_of(one.made.token),
        answers=TokenLink,
        shown=lambda one: one.link,
    ),
)
TOKEN_LINK: Final = Change(
    of=TOKEN,
    name="token-link",
    help="Make a new link for a waiting token; older links stop working.",
    parameters=Nothing,
    do=_link,
    result=NewLink,
    says=lambda one: one.link.activation_url,
    kept=lambda one: kept_of(one.made.token),
    record=("link.issue",),
    page=Page(
        f"{TOKEN_ROUTE}/link",
        back=lambda one: resolve_url(one.recipient),
        name="token-link",
        repeated=SHOWN_ONCE,
    ),
)
RETIRE: Final = Change(
    of=TOKEN,
    name="retire",
    help="Change when an active token ends, at the latest at its expiry.",
    parameters=TokenRetirement,
    do=_retire,
    result=TokenResource,
    says=_said_retired,
    record=("token.retire",),
    call=Call("PATCH", TOKEN_ROUTE, view="Token"),
    page=Page(
        f"{TOKEN_ROUTE}/retire",
        back=lambda one: resolve_url(one.recipient),
        name="token-retire",
    ),
)
REVOKE: Final = Change(
    of=RECIPIENT,
    name="revoke",
    help="Revoke the tokens of a recipient, from its next request on.",
    parameters=Revocation,
    do=_revoke,
    result=RevokedTokens,
    says=_said_revoked,
    record=("token.revoke",),
    verb=Verb(question=_question),
)
REVOKE_ALL: Final = Change(
    of=RECIPIENT,
    name="revoke-all",
    help="Revoke every token of a recipient, from its next request on.",
    parameters=Nothing,
    do=lambda one, _, stamp: _revoke(one, Revocation(), stamp),
    result=RevokedTokens,
    says=_said_revoked,
    record=("token.revoke",),
    call=Call(
        "DELETE",
        TOKENS,
        view="TokenList",
        status=200,
        answers=EndedTokens,
        shown=lambda one: EndedTokens(num_revoked=one.num_revoked),
    ),
)
REVOKE_ONE: Final = Change(
    of=TOKEN,
    name="revoke-one",
    help="Revoke a token, from its next request on.",
    parameters=Nothing,
    do=_revoke_one,
    result=TokenResource,
    says=_said_token,
    record=("token.revoke",),
    call=Call("DELETE", TOKEN_ROUTE, view="Token"),
    page=Page(
        f"{TOKEN_ROUTE}/revoke",
        back=lambda one: resolve_url(one.recipient),
        name="token-revoke",
        confirm=_must_be_sure,
    ),
)


def _list_tokens(name: str) -> TokensOfRecipient:
    return TokensOfRecipient(tokens=tokens_of(find_recipient(name), timezone.now()))


def _show_token(name: str, token_id: UUID) -> TokenResource:
    return token_row(find_token(name, token_id), now=timezone.now()).describe()


reads.register(
    Read(
        route=TOKENS,
        view="TokenList",
        finds=_list_tokens,
        shows=TokensOfRecipient,
        help="List the tokens of a recipient, the newest first, without their secrets.",
        role=ADMIN,
    ),
    Read(
        route=TOKEN_ROUTE,
        view="Token",
        finds=_show_token,
        shows=TokenResource,
        help="Get a token, without its secret.",
        role=ADMIN,
    ),
    Read(
        route=f"{TOKEN_ROUTE}/profile",
        view="ClientProfile",
        page="sharing:client-profile",
        shows=ShownClient,
        help="Get the profile of an OAuth client that has no secret.",
        role=ADMIN,
    ),
)
