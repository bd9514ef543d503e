"""`deltaweb table history`: the commits of a table."""

from itertools import chain

from django.core.management.base import CommandParser

from deltaweb.web.pages.command import Output, Subcommand
from deltaweb.web.tables.management import table_output, text_output
from deltaweb.web.tables.management.arguments import locate
from deltaweb.web.tables.operations.parameters import whole_number
from deltaweb.web.tables.storage.opening import open_location
from deltaweb.web.tables.versions.resources import logged_commit, times_note


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
