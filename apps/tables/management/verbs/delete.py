"""`deltaweb table delete`: remove the rows of a condition."""

from django.core.management.base import CommandParser

from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.management.arguments import SQL_OF_UTC, add_time_zone, locate
from deltaweb.web.tables.management.commit_output import committed
from deltaweb.web.tables.management.rewrite_output import agreed_rows, planned_rows
from deltaweb.web.tables.operations.rows.delete_rows import DeleteRows, delete_rows
from deltaweb.web.tables.storage.opening import place_of
from deltaweb.writer.rewrite.plan import Rewrite


class Verb(WritingVerb):
    """Remove the rows of a condition, or all."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument("--where", metavar="SQL", help="which rows; all without")
        add_time_zone(parser, of=SQL_OF_UTC)

    def run(
        self,
        *,
        table: str,
        where: str | None,
        time_zone: str | None,
        dry_run: bool,
        **_: object,
    ) -> Output:
        """Remove rows after asking."""
        name, location = locate(table)
        place = place_of(location)
        asked = DeleteRows(where=where or "", time_zone=time_zone or UTC_ZONE)
        if dry_run:
            plan = delete_rows(place, asked, Rewrite.plan, self.warn)
            return planned_rows(name, location, plan)
        which = "every row" if where is None else f"the rows where {where}"
        agreed = agreed_rows(self, f"Delete {which} of {location}?")
        result = delete_rows(place, asked, agreed, self.warn)
        return committed("table.delete_rows", name, location, result, where=where)
