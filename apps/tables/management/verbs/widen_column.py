"""`deltaweb table widen-column`: give a column a wider type."""

from django.core.management.base import CommandParser

from deltaweb.delta.protocol.schema_ddl import parse_type_ddl
from deltaweb.delta.writing.operations.definition_plan import carry_out_definition
from deltaweb.delta.writing.operations.widened_columns import widen_column
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.management.arguments import locate
from deltaweb.web.tables.management.commit_output import committed
from deltaweb.web.tables.management.definition_output import planned_definition
from deltaweb.web.tables.storage.opening import open_location


class Verb(WritingVerb):
    """Give a column a wider type, where the table lets types change."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument(
            "column", help="a.b for a nested one; a.element, m.key, m.value"
        )
        parser.add_argument("type", help="the wider type, such as BIGINT")

    def run(
        self,
        *,
        table: str,
        column: str,
        type: str,  # noqa: A002  # what it is called for users
        dry_run: bool,
        **_: object,
    ) -> Output:
        """Widen a column; no file is written again."""
        name, location = locate(table)
        opened, wide = open_location(location), parse_type_ddl(type)
        plan = opened.plan_definition(
            lambda base: widen_column(base, column, wide, root=opened.root)
        )
        if dry_run:
            return planned_definition(name, location, plan)
        result = carry_out_definition(opened.store, plan)
        return committed(
            "table.widen_column", name, location, result, column=column, type=type
        )
