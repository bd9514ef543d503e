"""`deltaweb user ...`: the accounts of this installation."""

from django.utils import timezone

from apps.accounts import selectors, services
from apps.accounts.models import Scope, User, usual_scopes
from apps.pages.actions import command_stamp
from apps.pages.changes.command import ChangesCommand
from apps.pages.command import (
    Output,
    argument,
    subcommand,
)
from apps.pages.page_json import json_with
from apps.pages.request.spans import parse_end

NAME = argument("name")


class Command(ChangesCommand):
    """What is read of users; the rest are changes."""

    noun = "user"
    names_of = {
        "user-not-found": lambda: User.objects.values_list("username", flat=True)
    }
    help = "Users: add, sign-in link, role, disable, enable, list, API key."

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
