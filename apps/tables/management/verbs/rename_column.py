"""`deltaweb table rename-column`: give a column another name."""

from django.core.management.base import CommandParser

from deltaweb.delta.writing.operations.definition_plan import carry_out_definition
from deltaweb.delta.writing.operations.renamed_columns import rename_column
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.management.arguments import locate
from deltaweb.web.tables.management.commit_output import committed
from deltaweb.web.tables.management.definition_output import planned_definition
from deltaweb.web.tables.storage.opening import open_location


class Verb(WritingVerb):
    """Give a column another name, where files know columns by others."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument("column", metavar="column", help="a.b for a nested one")
        parser.add_argument("new_name", metavar="new-name")

    def run(
        self, *, table: str, column: str, new_name: str, dry_run: bool, **_: object
    ) -> Output:
        """Rename a column; no file is written again."""
        name, location = locate(table)
        opened = open_location(location)
        plan = opened.plan_definition(
            lambda base: rename_column(base, column, new_name, root=opened.root)
        )
        if dry_run:
            return planned_definition(name, location, plan)
        result = carry_out_definition(opened.store, plan)
        return committed(
            "table.rename_column",
            name,
            location,
            result,
            column=column,
            new_name=new_name,
        )
