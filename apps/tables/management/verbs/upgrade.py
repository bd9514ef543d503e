"""`deltaweb table upgrade`: raise the versions of a table's protocol."""

from django.core.management.base import CommandParser

from deltaweb.delta.writing.operations.protocol_change import upgrade_protocol
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.management.arguments import locate, whole_number
from deltaweb.web.tables.management.commit_output import committed
from deltaweb.web.tables.management.definition_output import planned_definition
from deltaweb.web.tables.storage.opening import open_location


class Verb(WritingVerb):
    """Raise the versions of a table's protocol; there is no way back."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parser.add_argument(
            "--reader", type=whole_number, metavar="N", help="the reader version"
        )
        parser.add_argument(
            "--writer", type=whole_number, metavar="N", help="the writer version"
        )

    def run(
        self,
        *,
        table: str,
        reader: int | None,
        writer: int | None,
        dry_run: bool,
        **_: object,
    ) -> Output:
        """Raise the versions after asking: older clients are shut out."""
        name, location = locate(table)
        opened = open_location(location)
        if dry_run:
            plan = opened.plan_definition(
                lambda base: upgrade_protocol(
                    base, reader=reader, writer=writer, root=opened.root
                )
            )
            return planned_definition(name, location, plan)
        question = (
            f"Raise the protocol of {location}? Clients that do not know the new "
            "versions cannot use the table any more, and there is no way back."
        )
        self.ask(question)
        result = opened.upgrade_protocol(reader, writer)
        return committed(
            "table.upgrade_protocol",
            name,
            location,
            result,
            reader=reader,
            writer=writer,
        )
