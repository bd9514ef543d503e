"""`deltaweb table delete`: remove the rows of a condition."""

from django.core.management.base import CommandParser

from apps.pages.command import Output, WritingVerb
from apps.tables.management.arguments import locate
from apps.tables.management.commit_output import committed
from apps.tables.management.rewrite_output import agreed_rows, planned_rows
from apps.tables.operations.rows.delete_rows import delete_rows
from apps.tables.storage.opening import place_of
from deltaweb.writer.rewrite.plan import Rewrite


class Verb(WritingVerb):
    """Remove the rows of a condition, or all."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument("--where", metavar="SQL", help="which rows; all without")

    def run(
        self, *, table: str, where: str | None, dry_run: bool, **_: object
    ) -> Output:
        """Remove rows after asking."""
        name, location = locate(table)
        place = place_of(location)
        if dry_run:
            plan = delete_rows(place, where, Rewrite.plan, self.warn)
            return planned_rows(name, location, plan)
        which = "every row" if where is None else f"the rows where {where}"
        agreed = agreed_rows(self, f"Delete {which} of {location}?")
        result = delete_rows(place, where, agreed, self.warn)
        return committed("table.delete_rows", name, location, result, where=where)
