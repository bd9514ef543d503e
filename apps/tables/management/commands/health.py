"""`deltaweb health`: what the rules found of the tables, shares and recipients."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import Final

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from apps.pages.command import Output, SubcommandsCommand, takes_json
from apps.tables.health.resources import FindingResource
from apps.tables.health.selectors import open_findings
from apps.tables.models import Table

NOTHING: Final = "No rule has found anything."


class Command(SubcommandsCommand):
    """The findings are those that the last look stored; no rule is run."""

    help = "Print what the rules found: of some tables, or of everything."
    names_of = {
        "table-not-registered": lambda: [one.full_name for one in Table.objects.all()]
    }

    def run_from_argv(self, argv: list[str]) -> None:
        """Run; it has no subcommands."""
        BaseCommand.run_from_argv(self, argv)

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the names of tables."""
        _take_names(parser)
        takes_json(parser)
        parser.set_defaults(handler=self.list_findings, json=False)

    def list_findings(self, *, names: Sequence[str]) -> Output:
        """List the findings that hold and are not muted."""
        found = open_findings(names, now=timezone.now())
        return Output(found, lines=_lines(found) if found else [NOTHING])


def _take_names(parser: ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="a table; default: everything"
    )


def _lines(found: Sequence[FindingResource]) -> Iterator[str]:
    """Yield a finding with its remedy below it."""
    for one in found:
        about = f"{one.table}: " if one.table else ""
        yield f"{one.severity}  {about}{one.sentence}"
        if one.remedy and one.remedy["command"]:
            yield f"  {one.remedy['command']}"
