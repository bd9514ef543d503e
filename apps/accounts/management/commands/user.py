"""`deltaweb user ...`: the accounts of this installation."""

import sys

from django.utils import timezone

from apps.accounts import selectors, services
from apps.accounts.models import Scope, User, usual_scopes
from apps.pages.actions import command_stamp
from apps.pages.command import (
    Output,
    SubcommandsCommand,
    argument,
    flag,
    subcommand,
)
from apps.pages.page_json import json_with
from apps.pages.request.spans import parse_end

ROLES = [label for _, label in User.Role.choices]
NAME = argument("name")


class Command(SubcommandsCommand):
    """Each subcommand is one call into the services that the pages use, too."""

    names_of = {
        "user-not-found": lambda: User.objects.values_list("username", flat=True)
    }
    help = "Users: add, sign-in link, role, disable, enable, list, API key."

    @subcommand(
        "add",
        "make an account",
        NAME,
        argument("--role", required=True, choices=ROLES),
        flag(
            "--password-stdin",
            "read a password from stdin; without one, sign in by links",
        ),
    )
    def add_user(self, *, name: str, role: str, password_stdin: bool) -> Output:
        password = sys.stdin.readline().rstrip("\r\n") if password_stdin else None
        user = services.create_user(
            name=name, role=role, password=password, stamp=command_stamp()
        )
        text = f"Added {user.username} ({user.get_role_display()})."
        if password is None:
            text += f" Sign in with: deltaweb user link {user.username}"
        return _changed(user, text)

    @subcommand("link", "print a one-time sign-in link (15 minutes)", NAME)
    def link(self, *, name: str) -> Output:
        user = selectors.get_user(name)
        url = services.issue_sign_in_link(user=user, stamp=command_stamp())
        return Output(text=url, data={"name": user.username, "url": url})

    @subcommand(
        "set-role", "change what a user may do", NAME, argument("role", choices=ROLES)
    )
    def set_role(self, *, name: str, role: str) -> Output:
        user = services.set_role(
            user=selectors.get_user(name), role=role, stamp=command_stamp()
        )
        text = f"{user.username} is now {user.get_role_display()}."
        return _changed(user, text)

    @subcommand("disable", "disable a user", NAME)
    def disable(self, *, name: str) -> Output:
        user = services.disable_user(
            user=selectors.get_user(name), stamp=command_stamp()
        )
        return Output(text=f"Disabled {user.username}.", data=_resource(user))

    @subcommand("enable", "enable a disabled user", NAME)
    def enable(self, *, name: str) -> Output:
        user = services.enable_user(
            user=selectors.get_user(name), stamp=command_stamp()
        )
        return Output(text=f"Enabled {user.username}.", data=_resource(user))

    @subcommand("list", "list the accounts")
    def list_users(self) -> Output:
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

    @subcommand(
        "key",
        "make an API key and print it once",
        NAME,
        argument("--label", default="command line", help="what the key is for"),
        argument(
            "--scope",
            action="append",
            default=[],
            choices=Scope.values,
            help="what it may do, of what its user may; repeat it for more "
            f"(without one: {', '.join(usual_scopes())})",
        ),
        argument(
            "--expires",
            default="",
            metavar="SPAN",
            help="when it ends: 90d, 24h or a date; without it, never",
        ),
    )
    def key(self, *, name: str, label: str, scope: list[str], expires: str) -> Output:
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
