"""`deltaweb table update`: give columns new values in the rows of a condition."""

from django.core.management.base import CommandError, CommandParser

from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.management.arguments import SQL_OF_UTC, add_time_zone, locate
from deltaweb.web.tables.management.commit_output import committed
from deltaweb.web.tables.management.rewrite_output import agreed_rows, planned_rows
from deltaweb.web.tables.operations.rows.update_rows import UpdateRows, update_rows
from deltaweb.web.tables.storage.opening import place_of
from deltaweb.writer.rewrite.plan import Rewrite


class Verb(WritingVerb):
    """Give columns new values in the rows of a condition, or in all."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument(
            "--set",
            action="append",
            required=True,
            dest="assignments",
            metavar="col=expr",
            help="a column and the SQL of its value; several times for more",
        )
        parser.add_argument("--where", metavar="SQL", help="which rows; all without")
        add_time_zone(parser, of=SQL_OF_UTC)

    def run(
        self,
        *,
        table: str,
        assignments: list[str],
        where: str | None,
        time_zone: str | None,
        dry_run: bool,
        **_: object,
    ) -> Output:
        """Change rows after asking."""
        wanted = dict(map(_assignment, assignments))
        name, location = locate(table)
        place = place_of(location)
        asked = UpdateRows(
            assignments=wanted, where=where or "", time_zone=time_zone or UTC_ZONE
        )
        if dry_run:
            plan = update_rows(place, asked, Rewrite.plan, self.warn)
            return planned_rows(name, location, plan)
        which = "every row" if where is None else f"the rows where {where}"
        said = ", ".join(f"{column} = {sql}" for column, sql in wanted.items())
        agreed = agreed_rows(self, f"Set {said} in {which} of {location}?")
        result = update_rows(place, asked, agreed, self.warn)
        return committed(
            "table.update_rows", name, location, result, set=wanted, where=where
        )


def _assignment(text: str) -> tuple[str, str]:
    column, separator, sql = text.partition("=")
    if not separator or not column.strip() or not sql.strip():
        message = f"{text!r} is not of the form column=expression."
        raise CommandError(message)
    return column.strip(), sql.strip()
