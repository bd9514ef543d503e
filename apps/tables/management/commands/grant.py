"""`deltaweb grant ...`: rights on tables and namespaces, for groups and people."""

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

from django.core.management.base import CommandParser
from django.utils import timezone

from apps.accounts.models import Group, User
from apps.pages.actions import command_stamp
from apps.pages.changes.parameters import add_parameters, given, whole_number
from apps.pages.command import (
    Declared,
    Handler,
    Output,
    SubcommandsCommand,
    argument,
    flag,
    subcommand,
)
from apps.tables.access.granting import END, GIVE, RIGHTS, NewGrant, find_grant
from apps.tables.access.people import read_accounts, row_of_grant
from apps.tables.access.place import Place, place_named
from apps.tables.models import Grant
from deltaweb.environment.command_lines import COMMANDS

OPTIONS: Final = ("until", "reason", "person")
_DOES: Final = {
    "view": "let a group or a person view a table or a namespace such as sales.*",
    "edit": "let them view and change it",
    "share": "let them view it, and add it to shares",
    "own": "let them do all of these, and decide who has a right",
}


class Command(SubcommandsCommand):
    """Makes the changes that the page *Access* makes."""

    names_of = {
        "user-not-found": lambda: (
            *Group.objects.values_list("name", flat=True),
            *User.objects.values_list("username", flat=True),
        )
    }
    help = COMMANDS["grant"]

    def subcommands(self) -> Iterable[tuple[Declared, Handler]]:
        """Return a subcommand for each right, then the others."""
        arguments = (
            argument("who", help="a group, or a person"),
            argument("on", help="a table, or sales.*"),
            _takes_options,
        )
        for right in RIGHTS:
            yield Declared(right, _DOES[right], arguments), partial(self._give, right)
        yield from super().subcommands()

    def _give(self, right: str, **options: Any) -> Output:  # noqa: ANN401 (as argparse read them)
        new = NewGrant(to=options["who"], right=right, **given(options))
        result = GIVE.carry_out(place_named(options["on"]), new, command_stamp())
        return Output(result, GIVE.says(result))

    @subcommand(
        "list",
        "list the grants that count now, with their numbers",
        argument("on", nargs="?", help="a table, or sales.*"),
        flag("--all", "those that have ended, too"),
    )
    def list_grants(self, on: str | None = None, *, all: bool = False) -> Output:  # noqa: A002 (the option)
        now = timezone.now()
        found = Place(place_named(on)).grants if on else Grant.objects.all()
        if not all:
            found = found.active(now)
        related = found.select_related("user", "group", "table", "namespace")
        grants = list(related.order_by("id"))
        accounts = read_accounts(grants)
        rows = [row_of_grant(one, accounts, now) for one in grants]
        lines = [
            f"{row.id:>6} {row.right:<5} {row.on:<24} {row.kind:<6} {row.holder:<20} "
            + (
                f"ended {row.ended_at:%Y-%m-%d}"
                if row.ended_at
                else (f"until {row.until:%Y-%m-%d}" if row.until else "no end")
            )
            + (f"  {row.reason}" if row.reason else "")
            for row in rows
        ]
        return Output(rows, "" if rows else "No grant counts here.", lines)

    @subcommand(
        "end",
        "end a right at once; its record stays",
        argument("number", type=whole_number, help="its number in the list"),
    )
    def end_grant(self, number: int) -> Output:
        result = END.carry_out(find_grant(number), END.parameters(), command_stamp())
        return Output(result, END.says(result))


def _takes_options(parser: CommandParser) -> None:
    add_parameters(parser, NewGrant, only=OPTIONS)
