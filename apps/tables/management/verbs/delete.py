"""`deltaweb table delete`: remove the rows of a condition."""

from django.core.management.base import CommandParser

from apps.pages.command import Output, Subcommand
from apps.tables.management.arguments import add_dry_run, locate
from apps.tables.management.commit_output import committed
from apps.tables.management.rewrite_output import planned_rows
from apps.tables.operations.rows.delete_rows import delete_rows
from apps.tables.storage.opening import place_of
from deltaweb.writer.rewrite.plan import Rewrite


class Verb(Subcommand):
    """Remove the rows of a condition, or all."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument("--where", metavar="SQL", help="which rows; all without")
        add_dry_run(parser)
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def run(
        self, *, table: str, where: str | None, dry_run: bool, yes: bool, **_: object
    ) -> Output:
        """Remove rows after asking."""
        name, location = locate(table)
        place = place_of(location)
        if dry_run:
            plan = delete_rows(place, where, Rewrite.plan, self.warn)
            return planned_rows(name, location, plan)
        which = "every row" if where is None else f"the rows where {where}"
        self.confirm(f"Delete {which} of {location}?", yes=yes)
        result = delete_rows(place, where, Rewrite.commit, self.warn)
        return committed("table.delete_rows", name, location, result, where=where)
