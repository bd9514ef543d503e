"""`deltaweb table constraint`: add or drop a CHECK constraint."""

from django.core.management.base import CommandParser

from deltaweb.delta.writing.operations.definition import drop_constraint
from deltaweb.web.pages.command import (
    Output,
    WritingVerb,
    takes_json,
    takes_writing_options,
)
from deltaweb.web.tables.management.arguments import add_time_zone, add_upgrade, locate
from deltaweb.web.tables.management.commit_output import committed
from deltaweb.web.tables.management.definition_output import planned_definition
from deltaweb.web.tables.storage.opening import open_location


class Verb(WritingVerb):
    """Add or drop a CHECK constraint."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("table", metavar="name|location")
        parts = parser.add_subparsers(dest="way", required=True, metavar="add|drop")
        add = parts.add_parser("add", help="once it is true of every row")
        add.add_argument("constraint", metavar="name")
        add.add_argument("sql", metavar="SQL")
        add_upgrade(add)
        add_time_zone(add, of="its SQL (UTC without), as rows are looked at")
        drop = parts.add_parser("drop", help="take it away")
        drop.add_argument("constraint", metavar="name")
        for part in (add, drop):
            takes_json(part)
            takes_writing_options(part)

    def run(  # noqa: PLR0913 (its arguments)
        self,
        *,
        table: str,
        way: str,
        constraint: str,
        sql: str | None = None,
        upgrade: bool = False,
        time_zone: str | None = None,
        dry_run: bool,
        **_: object,
    ) -> Output:
        """Check the present rows and add the constraint, or drop it."""
        name, location = locate(table)
        opened = open_location(location, time_zone=time_zone)
        if dry_run:
            plan = (
                opened.plan_constraint(constraint, sql or "", upgrade=upgrade)
                if way == "add"
                else opened.plan_definition(
                    lambda base: drop_constraint(base, constraint)
                )
            )
            return planned_definition(name, location, plan)
        if way == "add":
            result = opened.add_constraint(constraint, sql or "", upgrade=upgrade)
        else:
            result = opened.drop_constraint(constraint)
        return committed(
            f"table.{way}_constraint",
            name,
            location,
            result,
            constraint=constraint,
            expression=sql,
        )
