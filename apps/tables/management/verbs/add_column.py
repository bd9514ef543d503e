"""`deltaweb table add-column`: add columns to a table."""

from django.core.management.base import CommandParser

from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.delta.writing.operations.definition import add_columns
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.management.arguments import add_upgrade, locate
from deltaweb.web.tables.management.commit_output import committed
from deltaweb.web.tables.management.definition_output import planned_definition
from deltaweb.web.tables.storage.opening import open_location


class Verb(WritingVerb):
    """Add columns to a table."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument("column", metavar="'col TYPE [COMMENT ..]'")
        add_upgrade(parser)

    def run(
        self,
        *,
        table: str,
        column: str,
        upgrade: bool,
        dry_run: bool,
        **_: object,
    ) -> Output:
        """Add columns at the end; present rows have null there."""
        name, location = locate(table)
        opened = open_location(location)
        if dry_run:
            fields = parse_columns_ddl(column)
            plan = opened.plan_definition(
                lambda base: add_columns(
                    base, fields, root=opened.root, upgrade=upgrade
                )
            )
            return planned_definition(name, location, plan)
        result = opened.add_columns(column, upgrade=upgrade)
        return committed("table.add_columns", name, location, result, columns=column)
