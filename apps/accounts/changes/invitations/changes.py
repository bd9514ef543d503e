"""The changes of invitations: make one, and withdraw one."""

from dataclasses import MISSING, dataclass
from typing import Final

from django.shortcuts import resolve_url

from apps.accounts.changes.invitations.resource import (
    INVITATIONS,
    ROUTE,
    InvitationResource,
    find_invitation,
    invitation_of_id,
    invitation_resource,
)
from apps.accounts.changes.users import NEW_USER, ROLE, ROLES
from apps.accounts.errors import InvitationNotFoundError, UserInvalidError
from apps.accounts.models import Invitation
from apps.accounts.services.users import checked_role
from apps.pages.actions import Stamp
from apps.pages.changes.change import (
    ADMIN,
    Call,
    Change,
    Nothing,
    Page,
    Record,
    Subject,
    Verb,
)
from apps.pages.changes.parameters import Line, parameter
from apps.pages.changes.read import Read, reads
from apps.pages.request.spans import parse_end

PAGES: Final = "admin-area/invitations"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewInvitation:
    """A person who is admitted once, by an address that the provider verified.

    Attributes:
        email: The address.
        role: `viewer`, `editor` or `admin`.
        expires: When the invitation expires: `14d`, `24h`, or its last day.
    """

    email: str = parameter(
        MISSING,
        line=Line(
            label="E-mail address", most=254, is_needed=True, codes=("user-invalid",)
        ),
    )
    role: str = parameter(
        "viewer",
        "--role",
        choices=ROLES,
        line=ROLE,
        help="viewer (the default), editor or admin",
    )
    expires: str = parameter(
        "14d",
        "--expires",
        metavar="SPAN",
        line=Line(label="Expires", most=40),
        help="when the invitation expires: 14d (the default), 24h or a date",
    )


def invite(_: None, new: NewInvitation, stamp: Stamp) -> InvitationResource:
    """Admit the person of a verified address; a new invitation replaces another."""
    expires_at = parse_end(new.expires, now=stamp.at)
    address = new.email.strip().lower()
    local, _at, domain = address.rpartition("@")
    if not local or not domain or not address.isprintable() or " " in address:
        raise UserInvalidError(reason=f"{new.email[:80]!r} is not an e-mail address.")
    if expires_at is None:
        raise UserInvalidError(reason="An invitation has to expire.")
    found, _made = Invitation.objects.update_or_create(
        email=address,
        defaults={
            "role": checked_role(new.role),
            "invited_by": stamp.actor.name,
            "created_at": stamp.at,
            "expires_at": expires_at,
        },
    )
    return invitation_resource(found)


def withdraw(one: Invitation, _: Nothing, stamp: Stamp) -> InvitationResource:
    """Withdraw an invitation that was not used yet.

    Raises:
        InvitationNotFoundError: If it was used meanwhile.
    """
    del stamp
    withdrawn = invitation_resource(one)
    if not one.delete()[0]:
        raise InvitationNotFoundError(email=withdrawn.email)
    return withdrawn


def _list(_: object) -> str:
    return resolve_url("accounts:invitation-list")


INVITATION: Final = Subject(
    noun="user", role=ADMIN, scope="admin", find=find_invitation
)
INVITE: Final = Change(
    of=NEW_USER,
    name="invite",
    help="Admit a person by an e-mail address that the sign-on provider verified.",
    parameters=NewInvitation,
    do=invite,
    result=InvitationResource,
    says=lambda one: f"Invited {one.email} ({one.role}).",
    record=Record("user.invite"),
    verb=Verb(),
    call=Call("POST", "invitations", view="Invitations"),
    page=Page(PAGES, back=_list, name="invite", needs_session=True),
)
WITHDRAW: Final = Change(
    of=INVITATION,
    name="uninvite",
    help="Withdraw an open invitation.",
    parameters=Nothing,
    do=withdraw,
    result=InvitationResource,
    says=lambda one: f"Withdrew the invitation of {one.email}.",
    record=Record("user.uninvite"),
    verb=Verb(),
    call=Call("DELETE", ROUTE, view="Invitation"),
    page=Page(
        f"{PAGES}/<int:invitation_id>/withdraw",
        back=_list,
        name="withdraw-invitation",
        find=invitation_of_id,
        needs_session=True,
    ),
)
reads.register(
    Read(
        route="invitations",
        view="Invitations",
        page="accounts:invitation-list",
        shows=INVITATIONS,
        help="List the open invitations.",
        role=ADMIN,
        scope="admin",
    ),
)
