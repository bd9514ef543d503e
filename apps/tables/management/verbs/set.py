"""`deltaweb table set`: set properties of a table."""

from django.core.management.base import CommandError, CommandParser

from deltaweb.delta.writing.operations.definition import set_properties
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.management.arguments import add_upgrade, locate
from deltaweb.web.tables.management.commit_output import committed
from deltaweb.web.tables.management.definition_output import planned_definition
from deltaweb.web.tables.storage.opening import open_location


class Verb(WritingVerb):
    """Set properties of a table."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument("properties", nargs="+", metavar="key=value")
        add_upgrade(parser)

    def run(
        self,
        *,
        table: str,
        properties: list[str],
        upgrade: bool,
        dry_run: bool,
        **_: object,
    ) -> Output:
        """Set properties, all of them in one commit."""
        wanted = dict(map(_pair, properties))
        name, location = locate(table)
        opened = open_location(location)
        if dry_run:
            plan = opened.plan_definition(
                lambda base: set_properties(
                    base, wanted, root=opened.root, upgrade=upgrade
                )
            )
            return planned_definition(name, location, plan)
        result = opened.set_properties(wanted, upgrade=upgrade)
        return committed(
            "table.set_properties", name, location, result, properties=wanted
        )


def _pair(text: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not separator or not key.strip():
        message = f"{text!r} is not of the form key=value."
        raise CommandError(message)
    return key.strip(), value.strip()
