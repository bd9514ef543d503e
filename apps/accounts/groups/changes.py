"""The changes of groups: add, update, remove, and members."""

from dataclasses import MISSING, dataclass, replace
from typing import Final

from django.db import IntegrityError, transaction
from django.shortcuts import resolve_url
from django.utils import timezone

from apps.accounts.errors import (
    GroupInvalidError,
    GroupNameTakenError,
    GroupOfClaimsError,
    MemberNotFoundError,
)
from apps.accounts.groups.resource import (
    GROUPS,
    ROUTE,
    GroupDetail,
    GroupResource,
    find_group,
    grants_of,
    group_detail,
    group_of_id,
    group_resource,
    group_url,
)
from apps.accounts.models import Group, Membership, User
from apps.accounts.selectors import get_user
from apps.news.publishing import publish
from apps.news.topics import of_user
from apps.pages.actions import (
    Action,
    FieldChange,
    Stamp,
    report,
    report_changes,
)
from apps.pages.changes.change import (
    ADMIN,
    Call,
    Change,
    Nothing,
    Page,
    Subject,
    Verb,
)
from apps.pages.changes.parameters import Line, parameter
from apps.pages.changes.read import Read, reads
from apps.pages.request.changes import UNCHANGED, Unchanged, value_of
from deltaweb.words import counted

PAGES: Final = "admin-area/groups"
MEMBER: Final = f"{ROUTE}/members/<str:user>"
MAX_NAME: Final = 150
NAME: Final = Line(
    label="Name",
    most=MAX_NAME,
    is_needed=True,
    wrong="Give a name of up to 150 characters.",
    codes=("group-name-taken", "group-invalid"),
)
DESCRIPTION: Final = Line(label="Description", most=500)
SOURCE: Final = Line(label="Members", wrong="Choose where its members come from.")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGroup:
    """A new group.

    Attributes:
        name: The name of the group, which is unique in any capitals.
        description: What the group is.
        source: `local` if administrators add its members. `claim` if sign-ins do that
            too: by the groups that the sign-on provider names.
    """

    name: str = parameter(MISSING, line=NAME)
    description: str = parameter(
        "",
        "--description",
        line=DESCRIPTION,
        metavar="TEXT",
        help="what the group is, in up to 500 characters",
    )
    source: str = parameter(
        Group.Source.LOCAL.value,
        "--source",
        line=SOURCE,
        choices=Group.Source.values,
        help="local: administrators add members; claim: sign-ins add members, too "
        "(default: local)",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSettings:
    """The values of a group that change; a value that is left out stays.

    Attributes:
        name: The name of the group. That of a group from claims cannot change.
        description: What the group is; null removes it.
    """

    name: str | Unchanged = parameter(
        UNCHANGED, "--name", line=NAME, metavar="TEXT", help="the new name"
    )
    description: str | Unchanged | None = parameter(
        UNCHANGED,
        "--description",
        line=DESCRIPTION,
        removed_by="--no-description",
        metavar="TEXT",
        help="what the group is, in up to 500 characters",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMember:
    """A user in a group, as changes answer.

    Attributes:
        name: The name of the group.
        user: The name of the user.
        changed: Whether this call changed something.
    """

    name: str
    user: str
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedGroup:
    """A group that does not exist any more.

    Attributes:
        num_members: The number of users who were in it.
        num_grants: The number of permissions that ended with it.
    """

    name: str
    num_members: int
    num_grants: int


def add_group(_: None, new: NewGroup, stamp: Stamp) -> GroupResource:
    """Make a group without members."""
    group = Group(
        name=checked_name(new.name),
        description=new.description.strip(),
        source=Group.Source(new.source),
        created_at=stamp.at,
    )
    if Group.objects.named(group.name).exists():
        raise GroupNameTakenError(name=group.name)
    try:
        with transaction.atomic():
            group.save(force_insert=True)
    except IntegrityError as error:
        raise GroupNameTakenError(name=group.name) from error
    report(Action(name="group.create", stamp=stamp, detail=_named(group)))
    return group_resource(group)


def update_group(group: Group, new: GroupSettings, stamp: Stamp) -> GroupResource:
    """Change the name or the description of a group."""
    about = Action(name="", stamp=stamp, detail=_named(group))
    before = (group.name, group.description)
    if not isinstance(new.name, Unchanged) and new.name != group.name:
        if group.source == Group.Source.CLAIM:
            raise GroupOfClaimsError(name=group.name)
        name = checked_name(new.name)
        if Group.objects.named(name).exclude(id=group.id).exists():
            raise GroupNameTakenError(name=name)
        group.name = name
    group.description = value_of(new.description, group.description, removed="").strip()
    group.save(update_fields=["name", "description"])
    names = ("group.rename", "group.describe")
    after = (group.name, group.description)
    report_changes(about, map(FieldChange, names, before, after))
    return group_resource(group)


def remove_group(group: Group, _: Nothing, stamp: Stamp) -> RemovedGroup:
    """Remove a group; its members lose what it has."""
    members = list(User.objects.filter(memberships__group=group).distinct())
    removed = RemovedGroup(
        name=group.name,
        num_members=len(members),
        num_grants=len(grants_of(group, now=stamp.at)),
    )
    lost = {"num_members": removed.num_members, "num_grants": removed.num_grants}
    report(Action(name="group.remove", stamp=stamp, detail={**_named(group), **lost}))
    group.delete()
    for user in members:
        publish(of_user(user.id))
    return removed


def add_member(found: tuple[Group, User], _none: Nothing, stamp: Stamp) -> GroupMember:
    """Put a user into a group until an administrator takes the user out."""
    group, user = found
    _, changed = Membership.objects.get_or_create(
        group=group,
        user=user,
        source=Group.Source.LOCAL,
        defaults={"since": stamp.at},
    )
    return _changed_member(found, stamp, "group.add_member", changed=changed)


def remove_member(
    found: tuple[Group, User], _none: Nothing, stamp: Stamp
) -> GroupMember:
    """Take a user out of a group.

    Raises:
        MemberNotFoundError: If no administrator put the user into it. A sign-in may
            have done that: its claims decide again at the next one.
    """
    group, user = found
    memberships = Membership.objects.filter(group=group, user=user)
    ended, _ = memberships.filter(source=Group.Source.LOCAL).delete()
    if not ended:
        is_of_claim = memberships.exists()
        raise MemberNotFoundError(
            name=group.name, user=user.username, is_of_claim=is_of_claim
        )
    return _changed_member(found, stamp, "group.remove_member", changed=True)


def _changed_member(
    found: tuple[Group, User], stamp: Stamp, name: str, *, changed: bool
) -> GroupMember:
    group, user = found
    if changed:
        publish(of_user(user.id))
        detail = {"group": group.name, "user": user.username}
        report(Action(name=name, stamp=stamp, detail=detail))
    return GroupMember(name=group.name, user=user.username, changed=changed)


def checked_name(name: str) -> str:
    """Return the name of a group without spaces around it.

    Raises:
        GroupInvalidError: If it is empty, too long, or has control characters.
    """
    name = name.strip()
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise GroupInvalidError(name=name)
    return name


def group_and_user(name: str, user: str) -> tuple[Group, User]:
    """Return a group and a user by their names."""
    return find_group(name), get_user(user)


def member_of_page(group_id: int, user: str) -> tuple[Group, User]:
    """Return a group and a user as the page of the group names them."""
    return group_of_id(group_id), get_user(user)


def _named(group: Group) -> dict[str, object]:
    return {"group": group.name, "source": group.source}


def _question(group: Group, _: Nothing) -> str:
    grants = len(grants_of(group, now=timezone.now()))
    lost = f" Its {counted(grants, 'permission')} will end." if grants else ""
    return f"Remove the group {group.name}?{lost}"


def _said_removed(one: RemovedGroup) -> str:
    members = counted(one.num_members, "member")
    grants = counted(one.num_grants, "permission")
    return f"Removed {one.name}, which had {members} and {grants}."


def _said_added(one: GroupMember) -> str:
    if not one.changed:
        return f"{one.user} is in {one.name} already."
    return f"{one.user} is in {one.name} now."


def _list(_: object) -> str:
    return resolve_url("accounts:group-list")


def _group_of(found: tuple[Group, User]) -> str:
    return group_url(found[0])


GROUP: Final = Subject(noun="group", role=ADMIN, scope="admin", find=find_group)
NEW: Final = Subject(noun="group", role=ADMIN, scope="admin", find=lambda: None)
OF_GROUP: Final = Subject(noun="group", role=ADMIN, scope="admin", find=group_and_user)
ADD: Final = Change(
    of=NEW,
    name="add",
    help="Add a group.",
    parameters=NewGroup,
    do=add_group,
    result=GroupResource,
    says=lambda one: f"Added the group {one.name}.",
    record=("group.create",),
    verb=Verb(),
    call=Call("POST", "groups", view="GroupList"),
    page=Page(
        PAGES,
        back=_list,
        then=lambda one: resolve_url("accounts:group-detail", one.id),
        name="add-group",
        needs_session=True,
    ),
)
UPDATE: Final = Change(
    of=GROUP,
    name="update",
    help="Change the name or the description of a group.",
    more="Permissions of the group stay.",
    parameters=GroupSettings,
    do=update_group,
    result=GroupResource,
    says=lambda one: f"Saved {one.name}.",
    record=("group.rename", "group.describe"),
    verb=Verb(),
    call=Call("PATCH", ROUTE, view="Group"),
    page=Page(
        f"{PAGES}/<int:group_id>/update",
        back=group_url,
        name="update-group",
        find=group_of_id,
        needs_session=True,
    ),
)
REMOVE: Final = Change(
    of=GROUP,
    name="remove",
    help="Remove a group; its permissions end.",
    parameters=Nothing,
    do=remove_group,
    result=RemovedGroup,
    says=_said_removed,
    record=("group.remove",),
    verb=Verb(question=_question),
    call=Call("DELETE", ROUTE, view="Group"),
    page=Page(
        f"{PAGES}/<int:group_id>/remove",
        back=group_url,
        then=_list,
        name="remove-group",
        find=group_of_id,
        confirm=lambda group: group.name,
        needs_session=True,
    ),
)
ADD_MEMBER: Final = Change(
    of=OF_GROUP,
    name="member",
    help="Put a user into a group.",
    parameters=Nothing,
    do=add_member,
    result=GroupMember,
    says=_said_added,
    record=("group.add_member",),
    verb=Verb(),
    call=Call("PUT", MEMBER, view="GroupMember"),
    page=Page(
        f"{PAGES}/<int:group_id>/add-member",
        back=_group_of,
        name="add-member",
        find=member_of_page,
        needs_session=True,
    ),
)
REMOVE_MEMBER: Final = replace(
    ADD_MEMBER,
    help="Take a user out of a group.",
    do=remove_member,
    says=lambda one: f"{one.user} is not in {one.name} any more.",
    record=("group.remove_member",),
    verb=Verb(flag="--remove"),
    call=Call("DELETE", MEMBER, view="GroupMember"),
    page=Page(
        f"{PAGES}/<int:group_id>/remove-member",
        back=_group_of,
        name="remove-member",
        find=member_of_page,
        needs_session=True,
    ),
)
reads.register(
    Read(
        route="groups",
        view="GroupList",
        page="accounts:group-list",
        shows=GROUPS,
        help="List groups.",
        role=ADMIN,
        scope="admin",
    ),
    Read(
        route=ROUTE,
        view="Group",
        finds=lambda name: group_detail(find_group(name), now=timezone.now()),
        shows=GroupDetail,
        help="Get a group, its members and its permissions.",
        role=ADMIN,
        scope="admin",
    ),
)
