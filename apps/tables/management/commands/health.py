"""`deltaweb health ...`: what the rules found, and what people say of it."""

from collections.abc import Iterator, Sequence
from typing import Final

from django.utils import timezone

from apps.pages.changes.command import ChangesCommand
from apps.pages.command import Output, argument, subcommand
from apps.tables.health.resources import FindingResource
from apps.tables.health.selectors import open_findings
from apps.tables.models import Table
from deltaweb.environment.command_lines import ASK_HELP, COMMANDS, first_word
from deltaweb.health.finding import about_length

LIST: Final = "list"
NOTHING: Final = "No rule has found anything."


class Command(ChangesCommand):
    """The findings are those that the last look stored; no rule is run."""

    noun = "health"
    help = COMMANDS["health"]
    names_of = {
        "table-not-registered": lambda: [one.full_name for one in Table.objects.all()]
    }

    def run_from_argv(self, argv: list[str]) -> None:
        """Run; a line without a subcommand lists the findings."""
        super().run_from_argv([*argv[:2], *self.completed(argv[2:])])

    def completed(self, line: list[str]) -> list[str]:
        """Return a line with the subcommand that it leaves out."""
        word = first_word(line)
        is_help = not word and not {*ASK_HELP, "--version"}.isdisjoint(line)
        return line if is_help or self.knows(word) else [LIST, *line]

    @subcommand(
        LIST,
        "list findings that are open and not muted, as `deltaweb health` alone does",
        argument("names", nargs="*", metavar="NAME", help="a table; default: all"),
    )
    def list_findings(self, *, names: Sequence[str]) -> Output:
        found = open_findings(names, now=timezone.now())
        return Output(found, lines=_lines(found) if found else [NOTHING])


def _lines(found: Sequence[FindingResource]) -> Iterator[str]:
    """Yield each finding by its number, with its remedy below it."""
    width, now = max(len(str(one.id)) for one in found), timezone.now()
    for one in found:
        about = f"{one.table}: " if one.table else ""
        age = about_length((now - one.since).total_seconds())
        yield f"{one.id:{width}}  {one.severity}  {about}{one.sentence} Open for {age}."
        if one.remedy and one.remedy["command"]:
            yield f"{'':{width}}  {one.remedy['command']}"
