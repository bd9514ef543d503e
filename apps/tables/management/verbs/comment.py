"""`deltaweb table comment`: describe a table, or a column of it, in its log."""

from django.core.management.base import CommandParser

from deltaweb.delta.writing.operations.definition import set_comment
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.management.arguments import locate
from deltaweb.web.tables.management.commit_output import committed
from deltaweb.web.tables.management.definition_output import planned_definition
from deltaweb.web.tables.storage.opening import open_location


class Verb(WritingVerb):
    """Describe a table, or a column of it, in its log."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument("text", help="empty to take the words away")
        parser.add_argument("--column", metavar="PATH", help="of a column, not all")

    def run(
        self, *, table: str, text: str, column: str | None, dry_run: bool, **_: object
    ) -> Output:
        """Commit the words."""
        name, location = locate(table)
        opened = open_location(location)
        if dry_run:
            plan = opened.plan_definition(
                lambda base: set_comment(base, text or None, column=column)
            )
            return planned_definition(name, location, plan)
        result = opened.set_comment(text or None, column)
        return committed(
            "table.set_comment", name, location, result, comment=text, column=column
        )
