"""Groups and their members, as pages, commands and the REST API show them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from django import forms
from django.db.models import Count, QuerySet
from django.shortcuts import get_object_or_404, resolve_url

from apps.accounts.errors import GroupNotFoundError
from apps.accounts.models import Group, User
from apps.pages.lists.paging import paged
from apps.pages.lists.sorting import Column, ordering
from apps.pages.page_json import OnPage, shaped
from apps.pages.registry import Registry
from apps.pages.request.list_page import ListPage, ListQuery, PageOfRows

ROUTE: Final = "groups/<str:name>"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupResource:
    """A group of users as every machine form names it.

    Attributes:
        source: `local` if an administrator made it; `claim` if its members come from
            sign-ins.
        num_members: The number of users in it.
    """

    name: str
    description: str
    source: str
    num_members: int
    created_at: datetime
    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberResource:
    """A user in a group.

    Attributes:
        user: The name of the user.
        active: Whether the user may sign in.
        source: `local` if an administrator added the user; `claim` if a sign-in did.
    """

    user: str
    role: str
    active: bool
    source: str
    since: datetime
    user_id: OnPage[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupGrant:
    """A permission of a group.

    Attributes:
        right: `view`, `edit`, `share` or `own`.
        on: A table, or a namespace such as `sales.*`.
        until: The time when it ends; null for never.
        url: The page of the permission.
    """

    right: str
    on: str
    until: datetime | None
    url: OnPage[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDetail(GroupResource):
    """A group with its members and permissions.

    Attributes:
        others: Names of users who can be added.
    """

    members: list[MemberResource]
    grants: list[GroupGrant]
    others: OnPage[list[str]]


GrantsOfGroup: TypeAlias = Callable[[Group, datetime], Iterable[GroupGrant]]
grants_of_groups: Final[Registry[GrantsOfGroup]] = Registry()
"""The access that apps above give to groups, for a group's page and its removal."""


def find_group(name: str) -> Group:
    """Return the group of that name, in any capitals."""
    # No name has a NUL, and a database cannot be asked for one.
    group = None if "\0" in name else Group.objects.named(name).first()
    if group is None:
        raise GroupNotFoundError(name=name)
    return group


def group_of_id(group_id: int) -> Group:
    """Return the group of an id, as the pages have it in their addresses."""
    return get_object_or_404(Group, id=group_id)


def group_resource(group: Group) -> GroupResource:
    """Return one group as machine forms name it."""
    return next(group_resources(Group.objects.filter(id=group.id)))


def group_resources(groups: QuerySet[Group]) -> Iterator[GroupResource]:
    """Yield groups as machine forms name them, in their order."""
    counted = groups.annotate(num_members=Count("memberships__user", distinct=True))
    for group in counted:
        yield shaped(GroupResource, group)


def group_detail(group: Group, *, now: datetime) -> GroupDetail:
    """Return a group with its members and permissions."""
    return shaped(
        GroupDetail,
        group_resource(group),
        members=members_of(group),
        grants=grants_of(group, now=now),
        others=[],
    )


def members_of(group: Group) -> list[MemberResource]:
    """Return the members of a group, a user with two sources twice."""
    found = group.memberships.select_related("user")
    return [
        MemberResource(
            user=one.user.username,
            role=one.user.get_role_display(),
            active=one.user.is_active,
            source=one.source,
            since=one.since,
            user_id=one.user_id,
        )
        for one in found.order_by("user__username", "source")
    ]


def grants_of(group: Group, *, now: datetime) -> list[GroupGrant]:
    """Return the permissions that a group has, of all apps."""
    return [grant for find in grants_of_groups for grant in find(group, now)]


def group_url(group: Group) -> str:
    """Return the address of the page of a group."""
    return resolve_url("accounts:group-detail", group.id)


def _listed(query: ListQuery) -> QuerySet[Group]:
    groups = Group.objects.filter(name__icontains=query["q"])
    return groups.order_by(*ordering(COLUMNS, query.sort, ties=("name",)))


def _page(_user: User, query: ListQuery, _now: datetime) -> PageOfRows[GroupResource]:
    groups = _listed(query)
    place = paged(groups.count(), query.page)
    return PageOfRows(rows=list(group_resources(groups[place.rows])), paged=place)


def _every(_user: User, query: ListQuery, _now: datetime) -> Iterator[GroupResource]:
    yield from group_resources(_listed(query))


COLUMNS: Final = (
    Column("name", "Name", "name"),
    Column("", "Description"),
    Column("", "Source"),
    Column("", "Members", css="dw-r"),
    Column("created", "Newest", "created_at", begins_descending=True, is_shown=False),
)
GROUPS: Final = ListPage(
    entries="groups",
    template="accounts/group_list.html",
    columns=COLUMNS,
    default_sort="name",
    filters={"q": forms.CharField(max_length=150, required=False)},
    page=_page,
    entry=GroupResource,
    every=_every,
)
