"""`deltaweb table rename`: give a table another name."""

from django.core.management.base import CommandParser

from deltaweb.web.pages.actions import command_stamp
from deltaweb.web.pages.command import Output, WritingVerb
from deltaweb.web.tables.catalogue.registration import (
    check_renamed,
    find_table,
    rename_table,
)
from deltaweb.web.tables.head.shapes import table_json


class Verb(WritingVerb):
    """Give a table another name."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name")
        parser.add_argument("new_name", metavar="new")

    def run(self, *, name: str, new_name: str, dry_run: bool) -> Output:
        """Rename a table."""
        table = find_table(name)
        if dry_run:
            parsed = check_renamed(table, new_name)
            data = table_json(table) | {"name": str(parsed)}
            return Output(data, f"Would rename {table.full_name} to {parsed}")
        rename_table(table, name=new_name, stamp=command_stamp())
        return Output(table_json(table), f"Renamed to {table.full_name}")
