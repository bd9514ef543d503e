"""What administrators change of users: add, role, disable, enable, sign-in link."""

import sys
from collections.abc import Callable
from dataclasses import MISSING, dataclass, replace
from typing import Final

from django.shortcuts import get_object_or_404, resolve_url
from django.utils import timezone

from apps.accounts import selectors, services
from apps.accounts.models import User
from apps.accounts.selectors import USERS, UserResource
from apps.pages.actions import Stamp
from apps.pages.changes.change import ADMIN, Call, Change, Nothing, Page, Subject, Verb
from apps.pages.changes.parameters import Line, parameter
from apps.pages.changes.read import Read, reads
from apps.pages.request.changes import UNCHANGED, Unchanged

ROUTE: Final = "users/<str:name>"
PAGES: Final = "admin-area/users"
ROLES: Final = [label for _, label in User.Role.choices]
ROLE: Final = Line(label="Role", is_needed=True, wrong="Choose one of the roles.")
NAME: Final = Line(
    label="Name",
    most=150,
    is_needed=True,
    wrong="Give a name of up to 150 characters.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewUser:
    """A new account. Its user signs in with one-time links.

    Attributes:
        name: The name of the user.
        role: `viewer`, `editor` or `admin`.
        email: The e-mail address, which gets a link that signs in; empty for none.
    """

    name: str = parameter(MISSING, line=NAME)
    role: str = parameter(MISSING, "--role", required=True, choices=ROLES, line=ROLE)
    email: str = parameter(
        "",
        "--email",
        metavar="ADDRESS",
        help="mail a link that signs in to this address",
        line=Line(label="E-mail address", most=254, codes=("mail-not-set-up",)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewUserAtTerminal(NewUser):
    """A new account whose user may also sign in with a password.

    Attributes:
        password: The password; None for a user who signs in by links alone.
    """

    password: str | None = parameter(
        None,
        "--password-stdin",
        action="store_true",
        reads=lambda is_sent: _read_password() if is_sent else None,
        help="read a password from stdin; without it, the user signs in with links",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRole:
    """Another role.

    Attributes:
        role: `viewer`, `editor` or `admin`.
    """

    role: str = parameter(
        MISSING, choices=ROLES, help="viewer, editor or admin", line=ROLE
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UserChange:
    """The values of an account that change; a value that is left out stays.

    Attributes:
        role: `viewer`, `editor` or `admin`.
        active: Whether the user may sign in.
    """

    role: str | Unchanged = UNCHANGED
    active: bool | Unchanged = UNCHANGED


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInURL:
    """A link that signs a user in once.

    Attributes:
        name: The name of the user.
        url: The link. It is shown only once.
    """

    name: str
    url: str


def user_of_id(user_id: int) -> User:
    """Return the user of an id, as the pages have it in their addresses."""
    return get_object_or_404(User, id=user_id)


def add_user(_: None, new: NewUser, stamp: Stamp) -> UserResource:
    """Make an account."""
    password = new.password if isinstance(new, NewUserAtTerminal) else None
    user = services.create_user(
        name=new.name, role=new.role, password=password, stamp=stamp
    )
    if new.email:
        services.mail_sign_in(user=user, address=new.email, stamp=stamp)
    return selectors.user_resource(user, now=stamp.at)


def change_user(user: User, new: UserChange, stamp: Stamp) -> UserResource:
    """Change a role, and let a user sign in or not."""
    if not isinstance(new.role, Unchanged):
        services.set_role(user=user, role=new.role, stamp=stamp)
    if new.active is not UNCHANGED and new.active != user.is_active:
        switch = services.enable_user if new.active else services.disable_user
        switch(user=user, stamp=stamp)
    return selectors.user_resource(user, now=stamp.at)


def make_link(user: User, _: Nothing, stamp: Stamp) -> SignInURL:
    """Make a link that signs a user in once."""
    url = services.issue_sign_in_link(user=user, stamp=stamp)
    return SignInURL(name=user.username, url=url)


def _switch(*, active: bool) -> Callable[[User, Nothing, Stamp], UserResource]:
    return lambda user, _, stamp: change_user(user, UserChange(active=active), stamp)


def _read_password() -> str:
    return sys.stdin.readline().rstrip("\r\n")


def _said_of_added(one: UserResource) -> str:
    said = f"Added {one.name} ({one.role})."
    if one.email:
        return f"{said} A sign-in link is sent to {one.email}."
    if selectors.get_user(one.name).has_usable_password():
        return said
    return f"{said} Sign in with: deltaweb user link {one.name}"


def _user_list(_: object) -> str:
    return resolve_url("accounts:user-list")


def _page(action: str, name: str) -> Page:
    return Page(
        f"{PAGES}/<int:user_id>/{action}",
        back=_user_list,
        name=name,
        find=user_of_id,
        needs_session=True,
    )


NEW_USER: Final = Subject(noun="user", role=ADMIN, scope="admin", find=lambda: None)
USER: Final = Subject(noun="user", role=ADMIN, scope="admin", find=selectors.get_user)
ADD: Final = Change(
    of=NEW_USER,
    name="add",
    help="Add a user.",
    parameters=NewUser,
    do=add_user,
    result=UserResource,
    says=_said_of_added,
    record=("user.create", "user.set_email", "user.mail_link"),
    verb=Verb(at_terminal=NewUserAtTerminal),
    call=Call("POST", "users", view="UserList"),
    page=Page(PAGES, back=_user_list, name="add-user", needs_session=True),
)
LINK: Final = Change(
    of=USER,
    name="link",
    help="Make a link that signs a user in once, within 15 minutes.",
    parameters=Nothing,
    do=make_link,
    result=SignInURL,
    says=lambda one: one.url,
    kept=lambda one: {"name": one.name},
    record=("user.link",),
    verb=Verb(),
    call=Call("POST", f"{ROUTE}/sign-in-links", view="SignInLinks"),
    page=_page("link", "make-link"),
)
UPDATE: Final = Change(
    of=USER,
    name="update",
    help="Change the role of a user, or whether the user may sign in.",
    parameters=UserChange,
    do=change_user,
    result=UserResource,
    says=lambda _: "Saved.",
    record=("user.set_role", "user.disable", "user.enable"),
    call=Call("PATCH", ROUTE, view="User"),
)
SET_ROLE: Final = Change(
    of=USER,
    name="set-role",
    help="Change the role of a user.",
    parameters=NewRole,
    do=lambda user, new, stamp: change_user(user, UserChange(role=new.role), stamp),
    result=UserResource,
    says=lambda one: (
        f"The role of {one.name} is now {one.role}, from the next request on."
    ),
    record=("user.set_role",),
    verb=Verb(),
    page=_page("role", "set-role"),
)
DISABLE: Final = Change(
    of=USER,
    name="disable",
    help="Sign a user out everywhere, and refuse sign-ins and API keys.",
    parameters=Nothing,
    do=_switch(active=False),
    result=UserResource,
    says=lambda one: f"{one.name} is disabled and signed out everywhere.",
    record=("user.disable",),
    verb=Verb(),
    page=_page("disable", "disable-user"),
)
ENABLE: Final = replace(
    DISABLE,
    name="enable",
    help="Let a disabled user sign in again.",
    do=_switch(active=True),
    says=lambda one: f"{one.name} can sign in again.",
    record=("user.enable",),
    page=_page("enable", "enable-user"),
)
reads.register(
    Read(
        route="users",
        view="UserList",
        page="accounts:user-list",
        shows=USERS,
        help="List users.",
        role=ADMIN,
        scope="admin",
    ),
    Read(
        route=ROUTE,
        view="User",
        finds=lambda name: selectors.user_resource(
            selectors.get_user(name), now=timezone.now()
        ),
        shows=UserResource,
        help="Get a user.",
        role=ADMIN,
        scope="admin",
    ),
)
