"""The changes that make tokens and OAuth clients, the first with a recipient."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from django.shortcuts import resolve_url

from apps.pages.actions import Stamp
from apps.pages.changes.change import ADMIN, Call, Change, Page, Subject, Verb
from apps.sharing.issuing import credentials, proofs
from apps.sharing.issuing.lifetimes import parse_overlap, read_lifetime
from apps.sharing.issuing.profile import (
    Profile,
    ProfileDocument,
    ProfileFile,
    profile_of,
)
from apps.sharing.issuing.tokens import Credentials
from apps.sharing.models import Recipient, RecipientToken
from apps.sharing.recipients.changes.profile_file import delivery
from apps.sharing.recipients.changes.settings import RECIPIENT, ROUTE
from apps.sharing.recipients.changes.token_resource import (
    InvitedRecipient,
    Issued,
    IssuedOpenly,
    MadeClient,
    MadeToken,
    NewClient,
    NewClientAtTerminal,
    NewRecipientAtTerminal,
    NewToken,
    RotationAtTerminal,
    TokenRotation,
    address_of,
    kept_of,
    shown_token,
    tokens_of,
)
from apps.sharing.recipients.listing import recipient_resource
from apps.sharing.recipients.services import NewRecipient, invite

TOKENS: Final = f"{ROUTE}/tokens"
SHOWN_ONCE: Final = (
    "This was done before, and its link was shown then. Make a new link if it is lost."
)
AtTerminal = NewRecipientAtTerminal | RotationAtTerminal | NewClientAtTerminal


def create(_: None, new: NewRecipient, stamp: Stamp) -> Issued:
    """Make a recipient with its first token."""
    return _issued(partial(invite, new), new, stamp)


def new_link(recipient: Recipient, new: NewToken, stamp: Stamp) -> Issued:
    """Make one more token, and a link by which it is fetched."""
    lifetime = read_lifetime(new.expires, now=stamp.at)
    return _issued(partial(credentials.issue, recipient, lifetime=lifetime), new, stamp)


def rotate(recipient: Recipient, new: TokenRotation, stamp: Stamp) -> Issued:
    """Make a token that replaces the others, and a link by which it is fetched."""
    issue = partial(
        credentials.rotate,
        recipient,
        lifetime=read_lifetime(new.expires, now=stamp.at),
        keep_old=parse_overlap(new.keep_old, now=stamp.at),
    )
    return _issued(issue, new, stamp)


def add_client(recipient: Recipient, new: NewClient, stamp: Stamp) -> Issued:
    """Make an OAuth client, and a link by which its secret is fetched."""
    issue: Callable[..., Credentials] = credentials.issue
    if new.keep_old is not None:
        kept = parse_overlap(new.keep_old, now=stamp.at)
        issue = partial(credentials.rotate, keep_old=kept)
    proof = proofs.of_kind(
        new.kind,
        public_key=new.pem if isinstance(new, NewClientAtTerminal) else new.public_key,
        issuer=new.issuer,
        audience=new.audience,
        subject=new.subject,
        group=new.group,
    )
    lifetime = read_lifetime(new.expires, now=stamp.at)
    return _issued(
        partial(issue, recipient, proof=proof, lifetime=lifetime), new, stamp
    )


def _issued(issue: Callable[..., Credentials], new: object, stamp: Stamp) -> Issued:
    """Make a token; hand it out by a link, or by the file that a command names."""
    path, deliver = None, None
    if isinstance(new, AtTerminal) and new.profile is not None:
        path = Path(new.profile).expanduser()
        deliver = delivery(path, force=new.force)
    made = issue(deliver=deliver, stamp=stamp)
    token = made.token
    token.refresh_from_db()
    facts: dict[str, Any] = {
        "resource": recipient_resource(token.recipient, now=stamp.at),
        "tokens": tokens_of(token.recipient, stamp.at),
        "token": shown_token(token, stamp),
        "activation_url": made.link or None,
        "activation_expires_at": made.link_expires_at,
        "profile": None if path is None else str(path.resolve()),
        "made": made,
    }
    if token.kind in RecipientToken.OPEN_KINDS:
        document = json.loads(profile_of(token).to_json())
        return IssuedOpenly(**facts, profile_document=document)
    return Issued(**facts)


def _invited(one: Issued) -> InvitedRecipient:
    return InvitedRecipient(
        resource=one.resource,
        token=one.token,
        activation_url=one.made.link,
        activation_expires_at=one.made.link_expires_at or one.token.ends_at,
    )


def _client(one: Issued) -> MadeClient:
    return MadeClient(
        resource=one.token,
        activation_url=one.activation_url,
        activation_expires_at=one.activation_expires_at,
    )


def _kept_of_issued(one: Issued) -> dict[str, str] | None:
    """Return what may be kept of a token with a link; other answers have no secret."""
    return kept_of(one.made.token) if one.made.link else None


def _said(one: Issued) -> str:
    token, name = one.made.token, one.resource.name
    ends = f"{token.ends_at:%Y-%m-%d %H:%M:%S} UTC"
    if one.profile is not None:
        return f"Wrote the profile of {name} to {one.profile}. The token ends {ends}."
    if one.activation_expires_at is not None:
        closes = f"{one.activation_expires_at:%Y-%m-%d %H:%M:%S} UTC"
        return (
            f"{one.activation_url}\n\nThe link works once, until {closes}. Send it to "
            f"{name}; the token ends {ends}."
        )
    note = "Its profile, with the path of its private key; nothing in it is secret:"
    if token.kind == RecipientToken.Kind.FEDERATED:
        note = f"Its profile, once it has filled in what {token.issuer} gave it:"
    text = profile_of(token).to_json().rstrip()
    return f"{name} comes in as {token.prefix} until {ends}.\n\n{note}\n\n{text}"


# === By the REST API: the profile file is the answer ===


def _new_token(recipient: Recipient, new: NewToken, stamp: Stamp) -> MadeToken:
    return _with_profile(credentials.issue, recipient, new.expires, stamp)


def _rotate_by_profile(
    recipient: Recipient, new: TokenRotation, stamp: Stamp
) -> MadeToken:
    keep_old = parse_overlap(new.keep_old, now=stamp.at)
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
    profile = cast("Profile", profiles[0])  # of a bearer
    return MadeToken(
        token=token,
        resource=shown_token(token, stamp),
        answer=profile.document,
        file=profile,
    )


def _profile_call(route: str, view: str) -> Call:
    """Return a call whose answer is a profile file."""
    return Call(
        "POST",
        route,
        view=view,
        location=lambda one: address_of(one.token),
        answers=ProfileDocument,
        shown=lambda one: one.answer,
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
    kept=lambda one: kept_of(one.token),
    record=("token.issue", "token.profile"),
    call=_profile_call(TOKENS, "TokenList"),
)
ROTATE: Final = Change(
    of=RECIPIENT,
    name="rotate-tokens",
    help="Make a token that replaces the others, and return its profile file once.",
    more="`Location` is the address of the token.",
    parameters=TokenRotation,
    do=_rotate_by_profile,
    result=MadeToken,
    says=lambda one: f"Made the token {one.token.prefix}….",
    kept=lambda one: kept_of(one.token),
    record=("token.rotate", "token.profile"),
    call=_profile_call(f"{ROUTE}/rotate", "Rotation"),
)

# === By pages and commands: a link, or a file ===

NEW_RECIPIENT: Final = Subject(
    noun="recipient", role=ADMIN, scope="share", find=lambda: None
)
CREATE: Final = Change(
    of=NEW_RECIPIENT,
    name="create",
    help="Make a recipient, and a link to download its profile file once.",
    parameters=NewRecipient,
    do=create,
    result=Issued,
    says=_said,
    kept=_kept_of_issued,
    record=(
        *("recipient.create", "grant.add", "token.issue"),
        *("link.issue", "token.profile"),
    ),
    verb=Verb(at_terminal=NewRecipientAtTerminal),
    call=Call(
        "POST",
        "recipients",
        view="RecipientList",
        location=lambda one: address_of(one.made.token),
        answers=InvitedRecipient,
        shown=_invited,
    ),
    page=Page(
        "recipients/new",
        back=lambda _: resolve_url("sharing:recipient-list"),
        name="recipient-new",
        takes=["name share"],
        repeated=SHOWN_ONCE,
    ),
)
NEW_LINK: Final = Change(
    of=RECIPIENT,
    name="token",
    help="Make another token, and a link to download its profile file once.",
    parameters=NewToken,
    do=new_link,
    result=Issued,
    says=_said,
    kept=_kept_of_issued,
    record=("token.issue", "link.issue"),
    page=Page(f"{TOKENS}/new", back=resolve_url, name="token-new", repeated=SHOWN_ONCE),
)
ROTATE_BY_LINK: Final = Change(
    of=RECIPIENT,
    name="rotate",
    help="Make a token that replaces the others.",
    parameters=TokenRotation,
    do=rotate,
    result=Issued,
    says=_said,
    kept=_kept_of_issued,
    record=("token.rotate", "link.issue", "token.profile"),
    verb=Verb(at_terminal=RotationAtTerminal),
    page=Page(
        f"{TOKENS}/rotate", back=resolve_url, name="token-rotate", repeated=SHOWN_ONCE
    ),
)
ADD_CLIENT: Final = Change(
    of=RECIPIENT,
    name="add-client",
    help="Make an OAuth client for a recipient.",
    more="`keep_old` replaces others of its kind. `Location` is its address.",
    parameters=NewClient,
    do=add_client,
    result=Issued,
    says=_said,
    kept=_kept_of_issued,
    record=("token.issue", "token.rotate", "link.issue", "token.profile"),
    verb=Verb(at_terminal=NewClientAtTerminal),
    call=Call(
        "POST",
        f"{ROUTE}/clients",
        view="ClientList",
        location=lambda one: address_of(one.made.token),
        answers=MadeClient,
        shown=_client,
    ),
    page=Page(
        f"{ROUTE}/clients/new",
        back=resolve_url,
        name="client-new",
        repeated=SHOWN_ONCE,
    ),
)
