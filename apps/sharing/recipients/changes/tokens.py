"""The changes of the tokens, links and OAuth clients of a recipient."""

import json
from collections.abc import Callable
from functools import partial
from typing import Final, cast
from uuid import UUID

from django.shortcuts import resolve_url
from django.urls import reverse
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
from apps.sharing.errors import TokenPrefixUnknownError
from apps.sharing.issuing import credentials, proofs, tokens
from apps.sharing.issuing.lifetimes import parse_span, read_lifetime
from apps.sharing.issuing.profile import Profile, ProfileDocument, ProfileFile
from apps.sharing.issuing.token_rows import TokenResource, token_row
from apps.sharing.issuing.tokens import Credentials
from apps.sharing.models import Recipient, RecipientToken
from apps.sharing.names import find_recipient
from apps.sharing.recipients.changes.settings import RECIPIENT, ROUTE
from apps.sharing.recipients.changes.token_resource import (
    EndedTokens,
    InvitedRecipient,
    MadeClient,
    MadeToken,
    NewClient,
    NewLink,
    NewToken,
    Revocation,
    RevokedTokens,
    ShownClient,
    TokenLink,
    TokenRetirement,
    TokenRotation,
    TokensOfRecipient,
    find_token,
    shown_token,
    tokens_of,
)
from apps.sharing.recipients.listing import recipient_resource
from apps.sharing.recipients.services import NewRecipient, invite
from deltaweb.words import counted

TOKENS: Final = f"{ROUTE}/tokens"
TOKEN_ROUTE: Final = f"{TOKENS}/<uuid:token_id>"


def _invite(_: None, new: NewRecipient, stamp: Stamp) -> MadeToken:
    made = invite(new, stamp=stamp)
    answer = InvitedRecipient(
        resource=recipient_resource(made.token.recipient, now=stamp.at),
        token=shown_token(made.token, stamp),
        activation_url=made.link,
        activation_expires_at=made.link_expires_at or made.token.ends_at,
    )
    return _made(made.token, answer, stamp)


def _new_token(recipient: Recipient, new: NewToken, stamp: Stamp) -> MadeToken:
    return _with_profile(credentials.issue, recipient, new.expires, stamp)


def _rotate(recipient: Recipient, new: TokenRotation, stamp: Stamp) -> MadeToken:
    keep_old = parse_span(new.keep_old, now=stamp.at)
    rotate = partial(credentials.rotate, keep_old=keep_old)
    return _with_profile(rotate, recipient, new.expires, stamp)


def _with_profile(
    issue: Callable[..., Credentials], recipient: Recipient, expires: str, stamp: Stamp
) -> MadeToken:
    profiles: list[ProfileFile] = []
    lifetime = read_lifetime(expires, now=stamp.at)
    token = issue(
        recipient, lifetime=lifetime, deliver=profiles.append, stamp=stamp
    ).token
    return _made(token, cast("Profile", profiles[0]).document, stamp)  # of a bearer


def _new_client(recipient: Recipient, new: NewClient, stamp: Stamp) -> MadeToken:
    issue: Callable[..., Credentials] = credentials.issue
    if new.keep_old is not None:
        kept = parse_span(new.keep_old, now=stamp.at)
        issue = partial(credentials.rotate, keep_old=kept)
    made = issue(
        recipient,
        proof=proofs.of_kind(
            new.kind,
            public_key=new.public_key,
            issuer=new.issuer,
            audience=new.audience,
            subject=new.subject,
            group=new.group,
        ),
        lifetime=read_lifetime(new.expires, now=stamp.at),
        stamp=stamp,
    )
    answer = MadeClient(
        resource=shown_token(made.token, stamp),
        activation_url=made.link or None,
        activation_expires_at=made.link_expires_at,
    )
    return _made(made.token, answer, stamp)


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
    retires_at = stamp.at + parse_span(new.ends, now=stamp.at)
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


def _made(token: RecipientToken, answer: object, stamp: Stamp) -> MadeToken:
    return MadeToken(token=token, resource=shown_token(token, stamp), answer=answer)


def _facts(token: RecipientToken) -> dict[str, str]:
    """Return what a repeated call is told of a token whose secret was given."""
    return {"recipient": token.recipient.name, "token_id": str(token.id)}


def _address(token: RecipientToken) -> str:
    return reverse("api:token", args=[token.recipient.name, token.id])


def _facts_of_client(one: MadeToken) -> dict[str, str] | None:
    """Return the facts of a client with a secret; other answers have none."""
    return _facts(one.token) if one.answer.activation_url else None


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


def _said_token(one: TokenResource) -> str:
    return f"{one.prefix}… is revoked; it stops working with the next request."


# === The changes ===

NEW_RECIPIENT: Final = Subject(
    noun="recipient", role=ADMIN, scope="share", find=lambda: None
)
TOKEN: Final = Subject(noun="recipient", role=ADMIN, scope="share", find=find_token)


def _secret_call(
    route: str,
    view: str,
    answers: type,
    *,
    location: Callable[[MadeToken], str] | None = lambda one: _address(one.token),
) -> Call:
    """Return a call whose answer is given once."""
    return Call(
        "POST",
        route,
        view=view,
        answers=answers,
        shown=lambda one: one.answer,
        location=location,
    )


INVITE: Final = Change(
    of=NEW_RECIPIENT,
    name="invite",
    help="Make a recipient, and a link to download its profile file once.",
    parameters=NewRecipient,
    do=_invite,
    result=MadeToken,
    says=lambda one: f"Made {one.token.recipient.name}.",
    kept=lambda one: _facts(one.token),
    record=("recipient.create", "grant.add", "token.issue", "link.issue"),
    call=_secret_call("recipients", "RecipientList", InvitedRecipient),
)
NEW_TOKEN: Final = Change(
    of=RECIPIENT,
    name="new-token",
    help="Make another token, and return its profile file once.",
    more="`Location` is the address of the token.",
    parameters=NewToken,
    do=_new_token,
    result=MadeToken,
    says=lambda one: f"Made the token {one.token.prefix}….",
    kept=lambda one: _facts(one.token),
    record=("token.issue", "token.profile"),
    call=_secret_call(TOKENS, "TokenList", ProfileDocument),
)
ROTATE: Final = Change(
    of=RECIPIENT,
    name="rotate-tokens",
    help="Make a token that replaces the others, and return its profile file once.",
    more="`Location` is the address of the token.",
    parameters=TokenRotation,
    do=_rotate,
    result=MadeToken,
    says=lambda one: f"Made the token {one.token.prefix}….",
    kept=lambda one: _facts(one.token),
    record=("token.rotate", "token.profile"),
    call=_secret_call(f"{ROUTE}/rotate", "Rotation", ProfileDocument),
)
NEW_CLIENT: Final = Change(
    of=RECIPIENT,
    name="new-client",
    help="Make an OAuth client for a recipient.",
    more="`keep_old` replaces others of its kind. `Location` is its address.",
    parameters=NewClient,
    do=_new_client,
    result=MadeToken,
    says=lambda one: f"Made the client {one.token.prefix}….",
    kept=_facts_of_client,
    record=("token.issue", "token.rotate", "link.issue"),
    call=_secret_call(f"{ROUTE}/clients", "ClientList", MadeClient),
)
PROFILE: Final = Change(
    of=TOKEN,
    name="token-profile",
    help="Activate a waiting token, and return its profile file once.",
    more="Its links stop working: the caller has to send the file.",
    parameters=Nothing,
    do=_activate,
    result=MadeToken,
    says=lambda one: f"{one.token.prefix}… is activated.",
    kept=lambda one: _facts(one.token),
    record=("token.profile",),
    call=_secret_call(
        f"{TOKEN_ROUTE}/profile",
        "ClientProfile",
        ShownClient,
        location=None,
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
    kept=lambda one: _facts(one.made.token),
    record=("link.issue",),
    verb=Verb(),
    call=Call(
        "POST",
        f"{ROUTE}/activation-links",
        view="ActivationLinks",
        location=lambda one: _address(one.made.token),
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
    kept=lambda one: _facts(one.made.token),
    record=("link.issue",),
    page=Page(
        f"{TOKEN_ROUTE}/link",
        back=lambda one: resolve_url(one.recipient),
        name="token-link",
    ),
)
RETIRE: Final = Change(
    of=TOKEN,
    name="retire",
    help="Change when an active token ends, at the latest at its expiry.",
    parameters=TokenRetirement,
    do=_retire,
    result=TokenResource,
    says=lambda one: f"{one.prefix}… ends on {one.ends_at:%Y-%m-%d %H:%M} UTC.",
    record=("token.retire",),
    call=Call("PATCH", TOKEN_ROUTE, view="Token"),
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
