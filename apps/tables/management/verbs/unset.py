"""`deltaweb table unset`: take properties of a table away."""

from django.core.management.base import CommandParser

from deltaweb.delta.writing.operations.definition import unset_properties
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.management.arguments import locate
from deltaweb.web.tables.management.commit_output import committed
from deltaweb.web.tables.management.definition_output import planned_definition
from deltaweb.web.tables.storage.opening import open_location


class Verb(WritingVerb):
    """Take properties of a table away."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument("properties", nargs="+", metavar="key")

    def run(
        self, *, table: str, properties: list[str], dry_run: bool, **_: object
    ) -> Output:
        """Take properties away; those that are not there are passed over."""
        name, location = locate(table)
        opened = open_location(location)
        if dry_run:
            plan = opened.plan_definition(
                lambda base: unset_properties(base, properties)
            )
            return planned_definition(name, location, plan)
        result = opened.unset_properties(properties)
        return committed(
            "table.unset_properties", name, location, result, properties=properties
        )
