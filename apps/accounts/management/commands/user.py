"""`deltaweb user ...`: the accounts of this installation."""

import sys

from django.utils import timezone

from deltaweb.web.accounts import selectors, services
from deltaweb.web.accounts.models import Scope, User, usual_scopes
from deltaweb.web.pages.actions import command_stamp
from deltaweb.web.pages.command import AddSubcommand, Output, SubcommandsCommand
from deltaweb.web.pages.page_json import json_with
from deltaweb.web.pages.request.spans import parse_end

ROLES = [label for _, label in User.Role.choices]


class Command(SubcommandsCommand):
    """Each subcommand is one call into the services that the pages use, too."""

    names_of = {
        "user-not-found": lambda: User.objects.values_list("username", flat=True)
    }
    help = "Users: add, sign-in link, role, disable, enable, list, API key."

    def add_subcommands(self, add: AddSubcommand) -> None:
        """Declare the subcommands."""
        parser = add("add", self.add_user, help="make an account")
        parser.add_argument("name")
        parser.add_argument("--role", required=True, choices=ROLES)
        parser.add_argument(
            "--password-stdin",
            action="store_true",
            help="read a password from stdin; without one, sign in by links",
        )
        parser = add(
            "link", self.link, help="print a one-time sign-in link (15 minutes)"
        )
        parser.add_argument("name")
        parser = add("set-role", self.set_role, help="change what a user may do")
        parser.add_argument("name")
        parser.add_argument("role", choices=ROLES)
        parser = add("disable", self.disable, help="disable a user")
        parser.add_argument("name")
        parser = add("enable", self.enable, help="enable a disabled user")
        parser.add_argument("name")
        add("list", self.list_users, help="list the accounts")
        parser = add("key", self.key, help="make an API key and print it once")
        parser.add_argument("name")
        parser.add_argument(
            "--label", default="command line", help="what the key is for"
        )
        parser.add_argument(
            "--scope",
            action="append",
            default=[],
            choices=Scope.values,
            help="what it may do, of what its user may; repeat it for more "
            f"(without one: {', '.join(usual_scopes())})",
        )
        parser.add_argument(
            "--expires",
            default="",
            metavar="SPAN",
            help="when it ends: 90d, 24h or a date; without it, never",
        )

    def add_user(
        self, *, name: str, role: str, password_stdin: bool, **_: object
    ) -> Output:
        """Make an account."""
        password = sys.stdin.readline().rstrip("\r\n") if password_stdin else None
        user = services.create_user(
            name=name, role=role, password=password, stamp=command_stamp()
        )
        text = f"Added {user.username} ({user.get_role_display()})."
        if password is None:
            text += f" Sign in with: deltaweb user link {user.username}"
        return _changed(user, text)

    def link(self, *, name: str, **_: object) -> Output:
        """Print a sign-in link."""
        user = selectors.get_user(name)
        url = services.issue_sign_in_link(user=user, stamp=command_stamp())
        return Output(text=url, data={"name": user.username, "url": url})

    def set_role(self, *, name: str, role: str, **_: object) -> Output:
        """Change a role."""
        user = services.set_role(
            user=selectors.get_user(name), role=role, stamp=command_stamp()
        )
        text = f"{user.username} is now {user.get_role_display()}."
        return _changed(user, text)

    def disable(self, *, name: str, **_: object) -> Output:
        """Shut a user out."""
        user = services.disable_user(
            user=selectors.get_user(name), stamp=command_stamp()
        )
        return Output(text=f"Disabled {user.username}.", data=_resource(user))

    def enable(self, *, name: str, **_: object) -> Output:
        """Let a user in again."""
        user = services.enable_user(
            user=selectors.get_user(name), stamp=command_stamp()
        )
        return Output(text=f"Enabled {user.username}.", data=_resource(user))

    def list_users(self, **_: object) -> Output:
        """List the accounts."""
        found = User.objects.order_by("username")
        users = list(selectors.user_resources(found, now=timezone.now()))
        lines = [
            f"{one.name:<24} {one.role:<8} {'active' if one.active else 'disabled'}"
            for one in users
        ]
        if users:
            lines.insert(0, f"{'NAME':<24} {'ROLE':<8} STATE")
        text = "" if users else "No users yet. 'deltaweb user add NAME' makes one."
        return Output(text=text, lines=lines, data=users)

    def key(
        self, *, name: str, label: str, scope: list[str], expires: str, **_: object
    ) -> Output:
        """Make an API key."""
        user = selectors.get_user(name)
        stamp = command_stamp()
        issued = services.issue_api_key(
            user=user,
            name=label,
            scopes=scope,
            expires_at=parse_end(expires, now=stamp.at),
            stamp=stamp,
        )
        shown = selectors.key_resource(issued.key, now=stamp.at)
        data = json_with(shown, name=user.username, key=issued.secret)
        return Output(text=issued.secret, data=data)


def _changed(user: User, text: str) -> Output:
    return Output(text=text, data=_resource(user))


def _resource(user: User) -> selectors.UserResource:
    return selectors.user_resource(user, now=timezone.now())
