"""What owners decide: who has which right, private or open, and listed."""

from argparse import BooleanOptionalAction
from dataclasses import MISSING, dataclass, replace
from datetime import datetime
from typing import Final

from django.utils import timezone

from apps.accounts.errors import UserNotFoundError
from apps.accounts.models import Group, User
from apps.pages.actions import FieldChange, Stamp, report_changes
from apps.pages.changes.change import (
    VIEWER,
    Call,
    Change,
    Nothing,
    Page,
    Subject,
    Verb,
)
from apps.pages.changes.parameters import Line, parameter
from apps.pages.request.changes import UNCHANGED, Unchanged, value_of
from apps.tables.access.giving import access_action, end, give
from apps.tables.access.people import AccessRow, read_accounts, row_of_grant
from apps.tables.access.place import (
    Place,
    Where,
    owns,
    place_named,
    requestable_namespace,
)
from apps.tables.access.requesting import PURPOSE, UNTIL, end_of, plain_text
from apps.tables.errors import GrantNotFoundError, HolderAmbiguousError
from apps.tables.head.finding import get_table
from apps.tables.models import Grant, Table
from apps.tables.models.news import tell_changed
from apps.tables.models.rights import EDIT, OWN, SHARE, VIEW
from apps.tables.permissions import RightRequiredError
from apps.tables.storage.roots import check_not_shared

RIGHTS: Final = (VIEW, EDIT, SHARE, OWN)
TABLE: Final = "t/<str:namespace>/<str:name>"
NAMESPACE: Final = "n/<str:namespace>"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGrant:
    """A right to be given.

    Attributes:
        to: The name of a group or a person. A group comes first if both have it.
        right: `view`, `edit`, `share` or `own`.
        until: When it ends: a span such as `90d`, the last day, or `never`.
        reason: What it is for, in up to 500 characters.
        person: Whether `to` is a person, also if a group has the same name.
    """

    to: str = parameter(
        MISSING,
        line=Line(
            label="Person or group",
            most=150,
            is_needed=True,
            wrong="Name a person or a group.",
            codes=("user-not-found", "holder-ambiguous"),
        ),
    )
    right: str = parameter(
        MISSING,
        choices=list(RIGHTS),
        help="view, edit, share or own",
        line=Line(label="Access", is_needed=True, wrong="Choose one of the rights."),
    )
    until: str = parameter(
        "never",
        "--until",
        line=UNTIL,
        metavar="SPAN",
        help="90d, a last day, or never (default: never)",
    )
    reason: str = parameter(
        "",
        "--reason",
        line=replace(PURPOSE, label="Reason", is_needed=False),
        metavar="TEXT",
        help="what it is for, in up to 500 characters",
    )
    person: bool = parameter(
        default=False,
        option="--person",
        action="store_true",
        help="a person, also if a group has the same name",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Privacy:
    """Who can see a table or a namespace; a value that is left out stays.

    Attributes:
        private: Whether only grants and administrators count. Otherwise it is open:
            roles decide.
        listed: Whether people who cannot view it find its name, its description and its
            owner, and can request access.
    """

    private: bool | Unchanged = parameter(
        UNCHANGED,
        "--private",
        action=BooleanOptionalAction,
        line=Line(label="Who can view it"),
        help="only grants and administrators count, or roles decide",
    )
    listed: bool | Unchanged = parameter(
        UNCHANGED,
        "--listed",
        action=BooleanOptionalAction,
        line=Line(label="List it for requests"),
        help="others find its name and can request access, or not",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyResource:
    """Who can see a table or a namespace.

    Attributes:
        on: The table, or the namespace such as `sales.*`.
    """

    on: str
    private: bool
    listed: bool


def owned_table(caller: User, namespace: str, name: str) -> Table:
    """Return a table whose access a user decides."""
    table = get_table(caller, namespace, name)
    _check_owns(caller, table)
    return table


def owned_namespace(caller: User, namespace: str) -> Where:
    """Return a namespace whose access a user decides."""
    row = requestable_namespace(caller, namespace)
    _check_owns(caller, row)
    return row


def find_grant(grant_id: int) -> Grant:
    """Return the grant of a number."""
    related = Grant.objects.select_related("user", "group", "table", "namespace")
    found = (
        related.filter(id=int(grant_id)).first() if str(grant_id).isdecimal() else None
    )
    if found is None:
        raise GrantNotFoundError(number=grant_id)
    return found


def owned_grant(caller: User, grant_id: int) -> Grant:
    """Return a grant on something whose access a user decides."""
    grant = find_grant(grant_id)
    if not owns(caller, place_of_grant(grant), timezone.now()):
        raise GrantNotFoundError(number=grant_id)
    return grant


def place_of_grant(grant: Grant) -> Place:
    """Return what a grant is on."""
    row = grant.table or grant.namespace
    if row is None:  # a constraint of the database forbids it
        raise GrantNotFoundError(number=grant.id)
    return Place(row)


def give_right(where: Where, new: NewGrant, stamp: Stamp) -> AccessRow:
    """Give a right to a person or a group."""
    grant = give(
        Place(where),
        holder_named(new.to, is_person=new.person),
        new.right,
        until=end_of(new.until, now=stamp.at),
        reason=plain_text(new.reason, "A reason is a text")
        if new.reason.strip()
        else "",
        stamp=stamp,
    )
    return _row(grant, stamp.at)


def end_right(grant: Grant, _: Nothing, stamp: Stamp) -> AccessRow:
    """End a right at once."""
    return _row(end(grant, stamp), stamp.at)


def set_privacy(where: Where, new: Privacy, stamp: Stamp) -> PrivacyResource:
    """Make something private or open, or list it for requests."""
    old = (where.is_private, where.is_listed)
    where.is_private = value_of(new.private, old[0], removed=old[0])
    where.is_listed = value_of(new.listed, old[1], removed=old[1])
    words = ("open", "private"), ("not listed", "listed")
    changes = [
        FieldChange(name, said[before], said[after])
        for name, said, before, after in zip(
            ("access.set_private", "access.set_listed"),
            words,
            old,
            (where.is_private, where.is_listed),
            strict=True,
        )
    ]
    place = Place(where)
    if where.is_private and not old[0]:
        in_it = Table.objects.filter(namespace=place.namespace.name)
        check_not_shared([place.table] if place.table else in_it, place.name)
    if report_changes(access_action("", place, stamp), changes):
        where.save(update_fields=["is_private", "is_listed"])
        if isinstance(where, Table):
            tell_changed(where)
    return PrivacyResource(
        on=place.name, private=where.is_private, listed=where.is_listed
    )


def holder_named(name: str, *, is_person: bool = False) -> User | Group:
    """Return the group of a name, or else the person; only a person if it is one.

    Whoever names groups at the provider could give one the name of a person, to get the
    rights that are meant for this person. Such a name is refused.
    """
    text = name.strip()
    found: User | Group | None = None
    if "\0" not in text:
        group = None if is_person else Group.objects.named(text).first()
        person = User.objects.named(text).first()
        if person and group and group.source == Group.Source.CLAIM:
            raise HolderAmbiguousError(name=text)
        found = group or person
    if found is None:
        raise UserNotFoundError(name=text)
    return found


def _check_owns(caller: User, where: Where) -> None:
    place = Place(where)
    if not owns(caller, place, timezone.now()):
        raise RightRequiredError(name=place.name, right=OWN)


def _row(grant: Grant, now: datetime) -> AccessRow:
    return row_of_grant(grant, read_accounts([grant]), now)


def _said_of_grant(one: AccessRow) -> str:
    until = f" until {one.until:%Y-%m-%d}" if one.until else ""
    verb = "owns" if one.right == OWN else f"can {one.right}"
    return f"{one.holder} {verb} {one.on}{until}."


def said_of_privacy(one: PrivacyResource) -> str:
    """Return who can see something in a sentence."""
    is_open = "private" if one.private else "open"
    listed = "listed for requests" if one.listed else "not listed"
    return f"{one.on} is {is_open} and {listed}."


def _access_page(where: Where) -> str:
    return Place(where).access_url


def _page_of_grant(grant: Grant) -> str:
    return f"{place_of_grant(grant).access_url}#grants"


OF_PLACE: Final = Subject(noun="access", role=VIEWER, scope="admin", find=place_named)
OF_GRANT: Final = Subject(noun="access", role=VIEWER, scope="admin", find=find_grant)
GIVE: Final = Change(
    of=OF_PLACE,
    name="give",
    help="Give a right on a table or a whole namespace to a person or a group.",
    parameters=NewGrant,
    do=give_right,
    result=AccessRow,
    says=_said_of_grant,
    record=("access.give",),
    verb=Verb(),
    call=Call(
        "POST",
        "tables/<str:namespace>/<str:name>/grants",
        view="TableGrants",
        find=owned_table,
    ),
    page=Page(
        f"{TABLE}/access/give", back=_access_page, name="table-give", find=owned_table
    ),
)
GIVE_IN_NAMESPACE: Final = replace(
    GIVE,
    name="give-in-namespace",
    help="Give a right on a whole namespace to a person or a group.",
    verb=None,
    call=Call(
        "POST",
        "namespaces/<str:namespace>/grants",
        view="NamespaceGrants",
        find=owned_namespace,
    ),
    page=Page(
        f"{NAMESPACE}/access/give",
        back=_access_page,
        name="namespace-give",
        find=owned_namespace,
    ),
)
END: Final = Change(
    of=OF_GRANT,
    name="end",
    help="End a right on a table or a namespace at once; its record stays.",
    parameters=Nothing,
    do=end_right,
    result=AccessRow,
    says=lambda one: f"{one.holder} lost the right to {one.right} {one.on}.",
    record=("access.end",),
    verb=Verb(),
    call=Call(
        "DELETE", "access-grants/<int:grant_id>", view="AccessGrant", find=owned_grant
    ),
    page=Page(
        "access-grants/<int:grant_id>/end",
        back=_page_of_grant,
        name="grant-end",
        find=owned_grant,
    ),
)
SET: Final = Change(
    of=OF_PLACE,
    name="set",
    help="Make a table or a namespace private or open, or list it for requests.",
    parameters=Privacy,
    do=set_privacy,
    result=PrivacyResource,
    says=said_of_privacy,
    record=("access.set_private", "access.set_listed"),
    verb=Verb(),
    call=Call(
        "PATCH",
        "tables/<str:namespace>/<str:name>/access",
        view="TableAccess",
        find=owned_table,
    ),
    page=Page(
        f"{TABLE}/access/set", back=_access_page, name="table-set", find=owned_table
    ),
)
