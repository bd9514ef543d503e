"""`deltaweb user ...`: the accounts of this installation."""

import sys

from django.utils import timezone

from deltaweb.web.accounts import selectors, services
from deltaweb.web.accounts.models import User
from deltaweb.web.pages.actions import COMMAND_LINE
from deltaweb.web.pages.command import AddSubcommand, Output, SubcommandsCommand

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
        parser = add("disable", self.disable, help="shut a user out")
        parser.add_argument("name")
        parser = add("enable", self.enable, help="let a disabled user in again")
        parser.add_argument("name")
        add("list", self.list_users, help="list the accounts")
        parser = add("key", self.key, help="make an API key and print it once")
        parser.add_argument("name")
        parser.add_argument(
            "--label", default="command line", help="what the key is for"
        )

    def add_user(
        self, *, name: str, role: str, password_stdin: bool, **_: object
    ) -> Output:
        """Make an account."""
        password = sys.stdin.readline().rstrip("\r\n") if password_stdin else None
        user = services.create_user(
            name=name,
            role=role,
            password=password,
            actor=COMMAND_LINE,
            now=timezone.now(),
        )
        text = f"Added {user.username} ({user.get_role_display()})."
        if password is None:
            text += f" Sign in with: deltaweb user link {user.username}"
        return Output(text=text, data=_as_json(user))

    def link(self, *, name: str, **_: object) -> Output:
        """Print a sign-in link."""
        user = selectors.get_user(name)
        url = services.issue_sign_in_link(
            user=user, actor=COMMAND_LINE, now=timezone.now()
        )
        return Output(text=url, data={"name": user.username, "url": url})

    def set_role(self, *, name: str, role: str, **_: object) -> Output:
        """Change a role."""
        user = services.set_role(
            user=selectors.get_user(name),
            role=role,
            actor=COMMAND_LINE,
            now=timezone.now(),
        )
        text = f"{user.username} is now {user.get_role_display()}."
        return Output(text=text, data=_as_json(user))

    def disable(self, *, name: str, **_: object) -> Output:
        """Shut a user out."""
        user = services.disable_user(
            user=selectors.get_user(name), actor=COMMAND_LINE, now=timezone.now()
        )
        return Output(text=f"Disabled {user.username}.", data=_as_json(user))

    def enable(self, *, name: str, **_: object) -> Output:
        """Let a user in again."""
        user = services.enable_user(
            user=selectors.get_user(name), actor=COMMAND_LINE, now=timezone.now()
        )
        return Output(text=f"Enabled {user.username}.", data=_as_json(user))

    def list_users(self, **_: object) -> Output:
        """List the accounts."""
        rows = selectors.user_rows()
        lines = [
            f"{row.name:<24} {row.role:<8} {'active' if row.is_active else 'disabled'}"
            for row in rows
        ]
        if rows:
            lines.insert(0, f"{'NAME':<24} {'ROLE':<8} STATE")
        text = "" if rows else "No users yet. 'deltaweb user add NAME' makes one."
        return Output(text=text, lines=lines, data=[row.as_json() for row in rows])

    def key(self, *, name: str, label: str, **_: object) -> Output:
        """Make an API key."""
        user = selectors.get_user(name)
        issued = services.issue_api_key(
            user=user, name=label, actor=COMMAND_LINE, now=timezone.now()
        )
        data = {
            "name": user.username,
            "label": issued.key.name,
            "prefix": issued.key.prefix,
            "key": issued.secret,
        }
        return Output(text=issued.secret, data=data)


def _as_json(user: User) -> dict[str, object]:
    return {
        "name": user.username,
        "role": user.get_role_display(),
        "active": user.is_active,
    }
