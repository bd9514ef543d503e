"""`deltaweb table history`: the commits of a table."""

from itertools import chain

from django.core.management.base import CommandParser

from apps.pages.changes.parameters import whole_number
from apps.pages.command import Output, Subcommand
from apps.tables.management import table_output, text_output
from apps.tables.management.arguments import locate
from apps.tables.storage.opening import open_location
from apps.tables.versions.resources import logged_commit, times_note


class HistoryVerb(Subcommand):
    """List the commits, newest first."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument("--limit", type=whole_number, help="at most this many")

    def run(self, *, table: str, limit: int | None) -> Output:
        """List commits."""
        location = locate(table)[1]
        opened = open_location(location)
        commits = opened.history(limit=limit)
        lines = text_output.listed(
            commits,
            {
                "VERSION": "version",
                "TIME": "timestamp",
                "OPERATION": "operation",
                "USER": "user",
                "ENGINE": "engine_info",
            },
        )
        own = table_output.own_times_of_table(opened)
        return Output(
            [logged_commit(commit, own) for commit in commits],
            lines=chain(lines, ["", times_note(own)]),
        )
