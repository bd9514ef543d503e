"""`deltaweb table add`: register a table."""

from pathlib import Path

from django.core.management.base import CommandParser
from django.utils import timezone

from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.catalogue.checks import check_location
from deltaweb.web.tables.catalogue.names import parse_table_name
from deltaweb.web.tables.catalogue.registration import check_name_free, register_table
from deltaweb.web.tables.head.shapes import table_json
from deltaweb.web.tables.storage.locations import check_allowed, parse_location
from deltaweb.web.tables.storage.roots import roots_for


class Verb(WritingVerb):
    """Register a table."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="table, or namespace.table")
        parser.add_argument("location", help="a folder or a URL")
        parser.add_argument("--description", default="", help="what people read of it")
        parser.add_argument(
            "--restricted", action="store_true", help="hide it from viewers"
        )

    def run(
        self,
        *,
        name: str,
        location: str,
        description: str,
        restricted: bool,
        dry_run: bool,
        **_: object,
    ) -> Output:
        """Check what is there, then register it."""
        parsed = parse_table_name(name)
        check_name_free(parsed)
        where = parse_location(location, base=Path.cwd())
        check_allowed(where, roots=roots_for(None))
        found = check_location(where)
        if found.warning:
            self.warn(f"{found.warning} Metadata and history are shown.")
        if dry_run:
            data = {"name": str(parsed), "location": where, "found": found.as_json()}
            said = f"Would register {parsed}: version {found.version} of {where}"
            return Output(data, said)
        table = register_table(
            name=name,
            location=where,
            description=description,
            restricted=restricted,
            now=timezone.now(),
        )
        text = f"Registered {table.full_name}: version {found.version} of {where}"
        return Output(table_json(table) | {"found": found.as_json()}, text)
