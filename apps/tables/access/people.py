"""The people with access to a table or a namespace, and the role or grant behind it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from apps.accounts.models import Membership, User
from apps.pages.page_json import OnPage
from apps.tables.access.place import Place
from apps.tables.models import Grant
from apps.tables.models.rights import (
    EDIT,
    NO_RIGHT,
    OF_GRANT,
    OF_ROLE,
    OWN,
    SHARE,
    VIEW,
)

NAMES_SHOWN: Final = 3
SOON: Final = timedelta(days=14)
RIGHTS: Final = (VIEW, EDIT, SHARE, OWN)
BY_ROLE: Final = "role"
PERSON: Final = "person"
GROUP: Final = "group"
_PLURALS: Final = {
    User.Role.ADMIN.value: "Administrators",
    User.Role.EDITOR.value: "Editors",
    User.Role.VIEWER.value: "Viewers",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRow:
    """One reason why people have access: a role, or a grant.

    Attributes:
        holder: The name of the person or the group, or `Administrators`.
        kind: `person`, `group` or `role`.
        num_people: The number of active people whom it gives the rights.
        source: `role`, `table` or `namespace`.
        on: The name of the table or the namespace that it is given on.
        until: The time when it ends; null for never.
        ended_at: The time at which it ended; null while it counts.
        id: The number of the grant; null for a role.
    """

    holder: str
    kind: str
    num_people: int
    view: bool
    edit: bool
    share: bool
    own: bool
    source: str
    on: str
    until: datetime | None
    reason: str
    given_by: str
    given_at: datetime | None
    ended_at: datetime | None
    ended_by: str | None
    id: int | None
    names: OnPage[str]
    is_ending: OnPage[bool]

    @property
    def rights(self) -> list[tuple[str, bool]]:
        """The four rights, each with whether it is included."""
        return [
            (VIEW, self.view),
            (EDIT, self.edit),
            (SHARE, self.share),
            (OWN, self.own),
        ]

    @property
    def right(self) -> str:
        """The right that a grant names."""
        if self.own:
            return OWN
        return EDIT if self.edit else SHARE if self.share else VIEW


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How many people can view something.

    Attributes:
        num_accounts: The number of people with an active account.
        num_people: The number of those who can view it now.
        by_role: Those of them who can by their role.
        through_groups: Those who are not among them, and can by a group.
        by_name: All others.
        num_groups: The number of groups that have a grant.
        if_private: The number of people who could view it if it was private.
        editors_if_open: The number of editors who could change it if it was open.
    """

    num_accounts: int
    num_people: int
    by_role: int
    through_groups: int
    by_name: int
    num_groups: int
    if_private: int
    editors_if_open: int

    @property
    def more_if_open(self) -> int:
        return self.num_accounts - self.num_people

    @property
    def fewer_if_private(self) -> int:
        return self.num_people - self.if_private


@dataclass(frozen=True, slots=True)
class Accounts:
    """The active accounts, and who is in which group.

    Attributes:
        roles: The role of each account, by id.
        names: The name of each account, by id.
        members: The ids of the accounts in each group, by the id of the group.
    """

    roles: dict[int, str]
    names: dict[int, str]
    members: dict[int, set[int]]

    def of_role(self, role: str) -> set[int]:
        """Return the accounts of a role."""
        return {one for one, its in self.roles.items() if its == role}

    def of_grant(self, grant: Grant) -> set[int]:
        """Return the active accounts that a grant is for."""
        if grant.group_id is not None:
            return self.members.get(grant.group_id, set())
        return {grant.user_id} & self.roles.keys() if grant.user_id else set()


def read_accounts(grants: Iterable[Grant]) -> Accounts:
    """Read the active accounts, by two queries."""
    roles, names = {}, {}
    active = User.objects.filter(is_active=True).order_by("username")
    for pk, name, role in active.values_list("id", "username", "role"):
        roles[pk], names[pk] = role, name
    groups = {one.group_id for one in grants if one.group_id is not None}
    members: dict[int, set[int]] = {}
    found = Membership.objects.filter(group__in=groups, user__is_active=True)
    for group_id, user_id in found.values_list("group", "user"):
        members.setdefault(group_id, set()).add(user_id)
    return Accounts(roles, names, members)


def active_grants(place: Place, now: datetime) -> list[Grant]:
    """Return the grants that count at a moment, the widest first."""
    found = place.grants.active(now).select_related(
        *("user", "group", "table", "namespace")
    )
    order = {OWN: 0, EDIT: 1, SHARE: 2, VIEW: 3}
    return sorted(found, key=lambda one: (order[one.right], one.holder_name.lower()))


def ended_grants(place: Place, now: datetime) -> list[Grant]:
    """Return the grants that do not count any more, the newest first."""
    counting = place.grants.active(now).values("id")
    found = place.grants.exclude(id__in=counting)
    return list(
        found.select_related("user", "group", "table", "namespace").order_by("-id")
    )


def rows_of(place: Place, now: datetime) -> list[AccessRow]:
    """Return each role and each grant that gives access at a moment."""
    grants = active_grants(place, now)
    accounts = read_accounts(grants)
    roles = [User.Role.ADMIN.value]
    if not place.is_private:
        roles += [User.Role.EDITOR.value, User.Role.VIEWER.value]
    rows = [_row_of_role(role, accounts) for role in roles]
    return rows + [row_of_grant(one, accounts, now) for one in grants]


def ended_rows(place: Place, now: datetime) -> list[AccessRow]:
    """Return each grant that has ended."""
    grants = ended_grants(place, now)
    accounts = read_accounts(grants)
    return [row_of_grant(one, accounts, now) for one in grants]


def reach_of(place: Place, now: datetime) -> Reach:
    """Count the people who can view something at a moment."""
    grants = active_grants(place, now)
    accounts = read_accounts(grants)
    everybody = set(accounts.roles)
    admins = accounts.of_role(User.Role.ADMIN.value)
    in_groups: set[int] = set()
    by_name: set[int] = set()
    for grant in grants:
        target = in_groups if grant.group_id is not None else by_name
        target |= accounts.of_grant(grant)
    by_role = admins if place.is_private else everybody
    can = by_role | in_groups | by_name
    return Reach(
        num_accounts=len(everybody),
        num_people=len(can),
        by_role=len(by_role),
        through_groups=len(in_groups - by_role),
        by_name=len(by_name - in_groups - by_role),
        num_groups=len({one.group_id for one in grants if one.group_id is not None}),
        if_private=len(admins | in_groups | by_name),
        editors_if_open=len(accounts.of_role(User.Role.EDITOR.value)),
    )


def _row_of_role(role: str, accounts: Accounts) -> AccessRow:
    people = accounts.of_role(role)
    return AccessRow(
        holder=_PLURALS[role],
        kind=BY_ROLE,
        num_people=len(people),
        **_included(OF_ROLE.get(role, NO_RIGHT)),
        source=BY_ROLE,
        on="",
        until=None,
        reason="",
        given_by="",
        given_at=None,
        ended_at=None,
        ended_by=None,
        id=None,
        names=_some_names(people, accounts),
        is_ending=False,
    )


def row_of_grant(grant: Grant, accounts: Accounts, now: datetime) -> AccessRow:
    """Return a grant as a row."""
    people = accounts.of_grant(grant)
    is_active = grant.is_active(now)
    return AccessRow(
        holder=grant.holder_name,
        kind=GROUP if grant.group_id is not None else PERSON,
        num_people=len(people),
        **_included(OF_GRANT[grant.right]),
        source="table" if grant.table_id is not None else "namespace",
        on=grant.subject_name,
        until=grant.until,
        reason=grant.reason,
        given_by=grant.given_by,
        given_at=grant.given_at,
        ended_at=None if is_active else grant.ended_at or grant.until,
        ended_by=grant.ended_by or None,
        id=grant.id,
        names=_some_names(people, accounts) if grant.group_id is not None else "",
        is_ending=is_active and grant.until is not None and grant.until < now + SOON,
    )


def _included(rights: frozenset[str]) -> dict[str, bool]:
    return {one: one in rights for one in RIGHTS}


def _some_names(people: set[int], accounts: Accounts) -> str:
    names = sorted(accounts.names[one] for one in people)
    more = len(names) - NAMES_SHOWN
    shown = ", ".join(names[:NAMES_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown
