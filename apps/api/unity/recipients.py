"""Recipients and their tokens, by the names of Unity Catalog."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.models import Scope
from apps.api.calls import Answer
from apps.api.endpoint import Role, endpoint
from apps.api.unity.frame import (
    NextPage,
    PlaceForm,
    UnityView,
    milliseconds,
    page_of,
    sent,
)
from apps.api.unity.shares import SELECT, Assignment
from apps.pages.actions import stamp_of
from apps.pages.changes.change import Nothing
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.sharing.errors import LifetimeInvalidError
from apps.sharing.issuing import credentials
from apps.sharing.issuing.lifetimes import default_lifetime
from apps.sharing.models import Recipient, RecipientToken
from apps.sharing.names import find_recipient
from apps.sharing.recipients.changes.new_tokens import CREATE
from apps.sharing.recipients.changes.settings import DELETE, UPDATE, RecipientChange
from apps.sharing.recipients.services import NewRecipient

_LAST_S: Final = 10**11  # a moment, or a span, that a database can hold


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressList:
    """Where a recipient may come from.

    Attributes:
        allowed_ip_addresses: Addresses and networks; an empty list, or one of an empty
            text, allows every address.
    """

    allowed_ip_addresses: list[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenInfo:
    """A token of a recipient.

    Attributes:
        activation_url: Opens the profile once; only the answer that made it has it.
        created_at: In milliseconds since 1970, as `expiration_time`.
        created_by: Who made it.
    """

    id: str
    activation_url: str | None
    created_at: int
    created_by: str
    expiration_time: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientInfo:
    """A recipient.

    Attributes:
        activated: Whether it has fetched a token.
        activation_url: As that of its newest token.
        created_at: In milliseconds since 1970.
        created_by: Who made it; null for the command line.
        owner: The same: recipients are of all administrators.
        tokens: Its tokens that have not ended, the newest first.
    """

    id: str
    name: str
    comment: str
    authentication_type: Literal["TOKEN"]
    activated: bool
    activation_url: str | None
    created_at: int
    created_by: str | None
    owner: str | None
    ip_access_list: AddressList | None
    tokens: list[TokenInfo]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientsPage(NextPage):
    """A page of recipients.

    Attributes:
        next_page_token: Of the next one; null on the last.
    """

    recipients: list[RecipientInfo]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnityRecipient:
    """A recipient that is to be made, with its first token.

    Attributes:
        expiration_time: When its token ends, in milliseconds since 1970.
    """

    name: str
    authentication_type: Literal["TOKEN"]
    comment: str = ""
    expiration_time: int | None = None
    ip_access_list: AddressList | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientUpdate:
    """What is to be changed of a recipient; what is left out stays."""

    comment: str | None = None
    ip_access_list: AddressList | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenReplacement:
    """A token that is to take the place of the others.

    Attributes:
        existing_token_expire_in_seconds: How long these stay good; 0 ends them now.
    """

    existing_token_expire_in_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareAssignments:
    """What a recipient may do with a share."""

    share_name: str
    privilege_assignments: list[Assignment]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientPermissions:
    """What a recipient may read."""

    permissions_out: list[ShareAssignments]


class UnityRecipientList(UnityView):
    """The recipients."""

    @endpoint(Role.ADMIN, takes=[PlaceForm], answers=RecipientsPage)
    def get(self, request: HttpRequest) -> object:
        """List recipients, as Unity Catalog does."""
        found, token = page_of(request, Recipient.objects.select_related("created_by"))
        now = timezone.now()
        infos = [_info(one, now=now) for one in found]
        return RecipientsPage(recipients=infos, next_page_token=token)

    @endpoint(Role.ADMIN, body=UnityRecipient, answers=RecipientInfo, scope=Scope.SHARE)
    def post(self, request: HttpRequest, body: UnityRecipient) -> Answer:
        """Make a recipient, and a link by which it fetches its profile file once."""
        stamp = stamp_of(request)
        new = NewRecipient(
            name=body.name,
            comment=body.comment,
            allowed_networks=_networks(body.ip_access_list),
            expires=_moment(body.expiration_time),
        )
        made = CREATE.carry_out(None, new, stamp).made
        return _made_answer(made.token, made.link, now=stamp.at)


class UnityRecipientView(UnityView):
    """One recipient."""

    @endpoint(Role.ADMIN, answers=RecipientInfo)
    def get(self, name: str) -> object:
        """Tell what a recipient is, and how its tokens stand."""
        return _info(find_recipient(name), now=timezone.now())

    @endpoint(
        Role.ADMIN, body=RecipientUpdate, answers=RecipientInfo, scope=Scope.SHARE
    )
    def patch(self, request: HttpRequest, name: str, body: RecipientUpdate) -> object:
        """Change a recipient, as Unity Catalog does."""
        recipient, stamp = find_recipient(name), stamp_of(request)
        new = RecipientChange(
            comment=sent(body.comment), allowed_networks=_networks(body.ip_access_list)
        )
        UPDATE.carry_out(recipient, new, stamp)
        return _info(recipient, now=stamp.at)

    @endpoint(Role.ADMIN, answers={200: None}, scope=Scope.SHARE)
    def delete(self, request: HttpRequest, name: str) -> object:
        """Delete a recipient with its grants and tokens, which end at once."""
        DELETE.carry_out(find_recipient(name), Nothing(), stamp_of(request))
        return None


class UnityRotation(UnityView):
    """A token that takes the place of the others."""

    @endpoint(
        Role.ADMIN, body=TokenReplacement, answers=RecipientInfo, scope=Scope.SHARE
    )
    def post(self, request: HttpRequest, name: str, body: TokenReplacement) -> Answer:
        """Make a token that replaces the others, and the link that fetches it."""
        stamp = stamp_of(request)
        keep_s = body.existing_token_expire_in_seconds
        if not 0 <= keep_s <= _LAST_S:
            raise LifetimeInvalidError(
                text=str(keep_s), reason="it is not a span of time"
            )
        made = credentials.rotate(
            find_recipient(name),
            lifetime=default_lifetime(),
            keep_old=timedelta(seconds=keep_s),
            stamp=stamp,
        )
        return _made_answer(made.token, made.link, now=stamp.at)


class UnityRecipientPermissions(UnityView):
    """What a recipient may read."""

    @endpoint(Role.ADMIN, takes=[PlaceForm], answers=RecipientPermissions)
    def get(self, name: str) -> object:
        """List the shares that a recipient may read, as Unity Catalog does."""
        recipient = find_recipient(name)
        may = [Assignment(principal=recipient.name, privileges=[SELECT])]
        return RecipientPermissions(
            permissions_out=[
                ShareAssignments(share_name=share.name, privilege_assignments=may)
                for share in recipient.shares.all()
            ]
        )


def _networks(listed: AddressList | None) -> list[str] | Unchanged:
    """Return the networks; one empty text alone is how Unity Catalog removes them."""
    if listed is None or listed.allowed_ip_addresses is None:
        return UNCHANGED
    return [] if listed.allowed_ip_addresses == [""] else listed.allowed_ip_addresses


def _moment(ends_at_ms: int | None) -> str:
    """Return when a token ends, as a text; "" for None."""
    if ends_at_ms is None:
        return ""
    if not 0 <= ends_at_ms <= _LAST_S * 1000:
        raise LifetimeInvalidError(text=str(ends_at_ms), reason="it is not a time")
    ends_at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ends_at_ms)
    return ends_at.isoformat()


def _made_answer(token: RecipientToken, link: str, *, now: datetime) -> Answer:
    """Answer with a recipient and the link of its new token, which is given once."""
    recipient = token.recipient
    about = {"recipient": recipient.name, "token_id": str(token.id)}
    return Answer(_info(recipient, now=now, link=link), about=about)


def _info(recipient: Recipient, *, now: datetime, link: str = "") -> RecipientInfo:
    made_by = recipient.created_by.username if recipient.created_by else None
    tokens = list(recipient.tokens.unended(now).order_by("-created_at", "-id"))
    networks = recipient.allowed_networks
    return RecipientInfo(
        id=str(recipient.id),
        name=recipient.name,
        comment=recipient.comment,
        authentication_type="TOKEN",
        activated=any(token.activated_at is not None for token in tokens),
        activation_url=link or None,
        created_at=milliseconds(recipient.created_at) or 0,
        created_by=made_by,
        owner=made_by,
        ip_access_list=AddressList(allowed_ip_addresses=networks) if networks else None,
        tokens=[
            TokenInfo(
                id=str(token.id),
                activation_url=link or None if number == 0 else None,
                created_at=milliseconds(token.created_at) or 0,
                created_by=token.created_by_name,
                expiration_time=milliseconds(token.ends_at) or 0,
            )
            for number, token in enumerate(tokens)
        ],
    )
