"""Open invitations, as pages, commands and the REST API show them.

An invitation has no secret, because the provider verifies the address of the person.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django import forms
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone

from apps.accounts.errors import InvitationNotFoundError
from apps.accounts.models import Invitation, User
from apps.pages.lists.paging import paged
from apps.pages.lists.sorting import Column, ordering
from apps.pages.page_json import shaped
from apps.pages.request.list_page import ListPage, ListQuery, PageOfRows

ROUTE: Final = "invitations/<str:email>"


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationResource:
    """An invitation, which the first person with the address uses up.

    Attributes:
        email: The address, which the provider has to have verified.
        invited_by: Who made the invitation.
        expires_at: The time when it expires.
    """

    email: str
    role: str
    invited_by: str
    created_at: datetime
    expires_at: datetime
    id: int


def open_invitations(now: datetime) -> QuerySet[Invitation]:
    """Return the invitations that have not expired."""
    return Invitation.objects.filter(expires_at__gt=now)


def find_invitation(email: str) -> Invitation:
    """Return the open invitation of an address, in any capitals."""
    # No address has a NUL, and PostgreSQL refuses a query with one.
    address = "" if "\0" in email else email.strip().lower()
    found = open_invitations(timezone.now()).filter(email=address).first()
    if found is None:
        raise InvitationNotFoundError(email=email)
    return found


def invitation_of_id(invitation_id: int) -> Invitation:
    """Return the invitation of an id, as the pages have it in their addresses."""
    return get_object_or_404(Invitation, id=invitation_id)


def invitation_resource(one: Invitation) -> InvitationResource:
    """Return an invitation as machine forms name it."""
    return shaped(InvitationResource, one, role=one.get_role_display())


def invitation_resources(
    invitations: Iterable[Invitation],
) -> Iterator[InvitationResource]:
    """Yield invitations as machine forms name them, in their order."""
    return map(invitation_resource, invitations)


def _listed(query: ListQuery, now: datetime) -> QuerySet[Invitation]:
    found = open_invitations(now).filter(email__icontains=query["q"])
    return found.order_by(*ordering(COLUMNS, query.sort, ties=("email",)))


def _page(_: User, query: ListQuery, now: datetime) -> PageOfRows[InvitationResource]:
    found = _listed(query, now)
    place = paged(found.count(), query.page)
    rows = list(invitation_resources(found[place.rows]))
    return PageOfRows(rows=rows, paged=place)


def _every(_: User, query: ListQuery, now: datetime) -> Iterator[InvitationResource]:
    yield from invitation_resources(_listed(query, now))


COLUMNS: Final = (
    Column("email", "E-mail address", "email"),
    Column("", "Role"),
    Column("by", "Invited by", "invited_by"),
    Column("expires", "Expires", "expires_at"),
    Column("created", "Newest", "created_at", begins_descending=True, is_shown=False),
)
INVITATIONS: Final = ListPage(
    entries="invitations",
    template="accounts/invitation_list.html",
    columns=COLUMNS,
    default_sort="expires",
    filters={"q": forms.CharField(max_length=150, required=False)},
    page=_page,
    entry=InvitationResource,
    every=_every,
)
