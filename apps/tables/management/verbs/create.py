"""`deltaweb table create`: make an empty table and register it."""

from pathlib import Path

from django.core.management.base import CommandParser
from django.utils import timezone

from apps.pages.command import Output, Subcommand
from apps.tables.catalogue.names import parse_table_name
from apps.tables.catalogue.registration import check_name_free, register_table
from apps.tables.management import catalogue_output
from apps.tables.management.audit import record
from apps.tables.storage.locations import check_allowed, parse_location
from apps.tables.storage.roots import roots_for
from deltaweb.delta.protocol.schema import StructType, parse_schema
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.table import DeltaTable


class Verb(Subcommand):
    """Make an empty table and register it."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="table, or namespace.table")
        parser.add_argument("location", help="an empty folder or a URL")
        parser.add_argument(
            "--schema",
            required=True,
            metavar="FILE|DDL",
            help="a file of the schema's JSON or DDL, or DDL: 'id BIGINT, at DATE'",
        )
        parser.add_argument("--partition-by", default="", metavar="a,b")
        parser.add_argument("--description", default="", help="what people read of it")

    def run(
        self,
        *,
        name: str,
        location: str,
        schema: str,
        partition_by: str,
        description: str,
        **_: object,
    ) -> Output:
        """Make version 0, then register the table."""
        check_name_free(parse_table_name(name))
        where = parse_location(location, base=Path.cwd())
        check_allowed(where, roots=roots_for(None))
        partitions = [text.strip() for text in partition_by.split(",") if text.strip()]
        DeltaTable.create(
            where,
            _schema(schema),
            partition_by=partitions,
            description=description or None,
        )
        table = register_table(
            name=name,
            location=where,
            description=description,
            restricted=False,
            now=timezone.now(),
        )
        record("table.create", table.full_name, version=0)
        text = f"Created {table.full_name} at {where}: version 0, no rows"
        return Output(catalogue_output.table_json(table) | {"version": 0}, text)


def _schema(text: str) -> StructType:
    path = Path(text)
    if len(text) < 1_000 and path.is_file():  # noqa: PLR2004  # longer is no path
        text = path.read_text()
    if text.lstrip().startswith("{"):
        return parse_schema(text)
    return StructType(tuple(parse_columns_ddl(text)))
