"""`deltaweb table drop-column`: take a column out of the rows of a table."""

from django.core.management.base import CommandParser

from deltaweb.delta.writing.operations.definition_plan import carry_out_definition
from deltaweb.delta.writing.operations.renamed_columns import drop_column
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.management.arguments import locate
from deltaweb.web.tables.management.commit_output import committed
from deltaweb.web.tables.management.definition_output import planned_definition
from deltaweb.web.tables.storage.opening import open_location


class Verb(WritingVerb):
    """Take a column out of the rows, where files know columns by other names."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument("column", metavar="column", help="a.b for a nested one")

    def run(self, *, table: str, column: str, dry_run: bool, **_: object) -> Output:
        """Drop a column; its values stay in files, and in the versions before."""
        name, location = locate(table)
        opened = open_location(location)
        plan = opened.plan_definition(
            lambda base: drop_column(base, column, root=opened.root)
        )
        if dry_run:
            return planned_definition(name, location, plan)
        self.ask(f"Drop the column {column} of {location}?")
        result = carry_out_definition(opened.store, plan)
        return committed("table.drop_column", name, location, result, column=column)
